/* Structs that grow: options read, results written.
 */
#include "base/sized.h"

haul_status haul__read_options(void *ours, size_t our_bytes, const void *theirs, size_t their_bytes)
{
    const unsigned char *from = theirs;
    size_t i, common = their_bytes < our_bytes ? their_bytes : our_bytes;
    memset(ours, 0, our_bytes);
    if (!from)
        return HAUL_OK;
    for (i = our_bytes; i < their_bytes; i++)
        if (from[i])
            return HAUL_ERROR_VERSION;
    memcpy(ours, from, common);
    return HAUL_OK;
}

void haul__write_info(void *theirs, size_t their_bytes, const void *ours, size_t our_bytes)
{
    size_t common = their_bytes < our_bytes ? their_bytes : our_bytes;
    memcpy(theirs, ours, common);
    memset((unsigned char *)theirs + common, 0, their_bytes - common);
}
