# Marks the comments of the public headers for Doxygen: the file's head, those above a declaration,
# and those behind a member. Headings of parts ("---- ...") stay as they are.
1s,^/\* ,/** @file\n ,
/^ *\/\* ----/! s,^( *)/\* ,\1/** ,
s,([];\,{)A-Za-z0-9_]) +/\* ,\1 /**< ,
