/* FFmpeg's AVFrame. Buffers are counted and shared. data leads into them: to the first line of each
 * plane, or to the last one where linesize, of the same place, is negative; extended_data is data
 * itself, or an array of its own for more channels than data has places for. In a frame of a
 * graphics card data[3] is the number of a surface.
 */
#define _DEFAULT_SOURCE
#include "journey.h"

enum { PLACES = 8, CHANNELS = 11, SAMPLES = 64, FRAMES = 60, LINE = 48, WIDTH = 40, HEIGHT = 16 };
enum { YUV420 = 0, SURFACE = 44, PLANAR_SOUND = 100 };

typedef struct AVBuffer {
    uint8_t *data;
    size_t size;
    unsigned refcount;
    void (*free)(void *opaque, uint8_t *data);
    void *opaque;
    int flags;
} AVBuffer;

typedef struct AVBufferRef {
    AVBuffer *buffer;
    uint8_t *data; /* a part of the buffer's */
    size_t size;
} AVBufferRef;

typedef struct AVDictionaryEntry {
    char *key, *value;
} AVDictionaryEntry;

typedef struct AVDictionary {
    int count;
    AVDictionaryEntry *elems;
} AVDictionary;

typedef struct AVFrameSideData {
    int type;
    uint8_t *data;
    size_t size;
    AVDictionary *metadata;
    AVBufferRef *buf;
} AVFrameSideData;

typedef struct AVFrame {
    uint8_t *data[PLACES];
    int linesize[PLACES];
    uint8_t **extended_data;
    int width, height, nb_samples, format, channels;
    void *opaque;
    AVBufferRef *buf[PLACES], **extended_buf;
    int nb_extended_buf;
    AVFrameSideData **side_data;
    int nb_side_data;
    AVDictionary *metadata;
} AVFrame;

typedef struct stream {
    int count;
    AVFrame **frames;
} stream;

static haul_type *AVBuffer_type, *AVBufferRef_type, *AVDictionaryEntry_type, *AVDictionary_type;
static haul_type *AVFrameSideData_type, *AVFrame_type, *stream_type;

HAUL_FUNCTION(data_is_memory, AVFrame, self->format != SURFACE || here->index != 3)
HAUL_FUNCTION(has_own_array, AVFrame, (const void *)self->extended_data != (const void *)self->data)
HAUL_FUNCTION(has_no_array, AVFrame, (const void *)self->extended_data == (const void *)self->data)
HAUL_FUNCTION(channels_of, AVFrame, self->channels)

static void frames_open(void)
{
    static const haul_field alias = { .ownership = HAUL_BORROWED };
    static const haul_field buffer_fields[] = {
        HAUL_ARRAY(AVBuffer, data, HAUL_COUNT(AVBuffer, size)),
        HAUL_ADDRESS(AVBuffer, free, .ownership = HAUL_EXTERNAL), HAUL_RAW(AVBuffer, opaque)
    };
    static const haul_field ref_fields[] = { HAUL_OBJECT(AVBufferRef, buffer, &AVBuffer_type),
                                             HAUL_ADDRESS(AVBufferRef, data,
                                                          .ownership = HAUL_BORROWED) };
    static const haul_field entry_fields[] = { HAUL_STRING(AVDictionaryEntry, key),
                                               HAUL_STRING(AVDictionaryEntry, value) };
    static const haul_field dictionary_fields[] = { HAUL_OBJECTS(
        AVDictionary, elems, &AVDictionaryEntry_type, HAUL_COUNT(AVDictionary, count)) };
    static const haul_field side_fields[] = {
        HAUL_ADDRESS(AVFrameSideData, data, .ownership = HAUL_BORROWED),
        HAUL_OBJECT(AVFrameSideData, metadata, &AVDictionary_type),
        HAUL_OBJECT(AVFrameSideData, buf, &AVBufferRef_type)
    };
    static const haul_field frame_fields[] = {
        HAUL_ADDRESS(AVFrame, data, .when = HAUL_WHEN_FN(data_is_memory), .else_raw = 1,
                     .ownership = HAUL_BORROWED),
        HAUL_ADDRESS(AVFrame, extended_data, .when = HAUL_WHEN_FN(has_no_array),
                     .ownership = HAUL_BORROWED),
        HAUL_ARRAYS(AVFrame, extended_data, HAUL_COUNT_FN(channels_of), HAUL_ONE,
                    .when = HAUL_WHEN_FN(has_own_array), .each_pointer = &alias),
        HAUL_RAW(AVFrame, opaque),
        HAUL_EACH(AVFrame, buf, .target = &AVBufferRef_type),
        HAUL_POINTERS(AVFrame, extended_buf, &AVBufferRef_type,
                      HAUL_COUNT(AVFrame, nb_extended_buf)),
        HAUL_POINTERS(AVFrame, side_data, &AVFrameSideData_type, HAUL_COUNT(AVFrame, nb_side_data)),
        HAUL_OBJECT(AVFrame, metadata, &AVDictionary_type),
    };
    static const haul_field stream_fields[] = { HAUL_POINTERS(stream, frames, &AVFrame_type,
                                                              HAUL_COUNT(stream, count)) };
    AVBuffer_type = OPEN(AVBuffer, buffer_fields);
    AVBufferRef_type = OPEN(AVBufferRef, ref_fields);
    AVDictionaryEntry_type = OPEN(AVDictionaryEntry, entry_fields);
    AVDictionary_type = OPEN(AVDictionary, dictionary_fields);
    AVFrameSideData_type = OPEN(AVFrameSideData, side_fields);
    AVFrame_type = OPEN(AVFrame, frame_fields);
    stream_type = OPEN(stream, stream_fields);
    type_close(stream_type);
}

static void frames_close(void)
{
    haul_type **all[] = { &stream_type,       &AVFrame_type,     &AVFrameSideData_type,
                          &AVDictionary_type, &AVBufferRef_type, &AVDictionaryEntry_type,
                          &AVBuffer_type };
    size_t i;
    for (i = 0; i < COUNT_OF(all); i++)
        haul_type_free(all[i]);
}

static void pool_free(void *opaque, uint8_t *data)
{
    *(uint8_t **)opaque = data;
}

static AVBufferRef *buffer_make(size_t bytes)
{
    AVBufferRef *r = PUT(AVBufferRef);
    r->buffer = PUT(AVBuffer);
    r->data = r->buffer->data = put(bytes, 16);
    r->size = r->buffer->size = bytes;
    r->buffer->refcount = 1;
    r->buffer->free = pool_free;
    return r;
}

static AVBufferRef *buffer_share(const AVBufferRef *from, size_t offset)
{
    AVBufferRef *r = PUT(AVBufferRef);
    *r = *from;
    r->data += offset;
    r->size -= offset;
    r->buffer->refcount++;
    return r;
}

static AVDictionary *dictionary_make(const char *key, const char *value, uint64_t *seen)
{
    AVDictionary *d = PUT(AVDictionary);
    d->count = 1;
    d->elems = PUT(AVDictionaryEntry);
    d->elems->key = put_text(key);
    d->elems->value = put_text(value);
    see_text(seen, key);
    see_text(seen, value);
    return d;
}

/* Line y of plane p begins with 8 p + y. A plane's lines lie one below the other, whichever way
 * they are counted. */
static void picture_make(AVFrame *f, int is_flipped, uint64_t *seen)
{
    size_t at = 0;
    int p, y;
    f->format = YUV420;
    f->width = WIDTH;
    f->height = HEIGHT;
    f->buf[0] = buffer_make(LINE * HEIGHT * 2);
    for (p = 0; p < 3; p++) {
        int lines = p ? HEIGHT / 2 : HEIGHT;
        f->linesize[p] = is_flipped ? -LINE : LINE;
        f->data[p] = f->buf[0]->data + at + (is_flipped ? (size_t)(lines - 1) * LINE : 0);
        at += (size_t)lines * LINE;
        for (y = 0; y < lines; y++)
            see(seen, *(f->data[p] + y * f->linesize[p]) = (uint8_t)(8 * p + y));
    }
}

/* A frame of the same picture, upside down: it shares the buffer. */
static void picture_turn(AVFrame *f, const AVFrame *from, uint64_t *seen)
{
    int p, y;
    f->format = YUV420;
    f->width = WIDTH;
    f->height = HEIGHT;
    f->buf[0] = buffer_share(from->buf[0], LINE);
    for (p = 0; p < 3; p++) {
        int lines = p ? HEIGHT / 2 : HEIGHT;
        f->linesize[p] = -from->linesize[p];
        f->data[p] = from->data[p] + (lines - 1) * from->linesize[p];
        for (y = lines; y-- > 0;)
            see(seen, (uint64_t)(8 * p + y + 1)); /* which the walk has raised by then */
    }
}

static void sound_make(AVFrame *f, uint64_t *seen)
{
    int c;
    f->format = PLANAR_SOUND;
    f->channels = CHANNELS;
    f->nb_samples = f->linesize[0] = SAMPLES;
    f->extended_data = PUT_ARRAY(uint8_t *, CHANNELS);
    f->nb_extended_buf = CHANNELS - PLACES;
    f->extended_buf = PUT_ARRAY(AVBufferRef *, CHANNELS - PLACES);
    for (c = 0; c < CHANNELS; c++) {
        AVBufferRef *r = buffer_make(SAMPLES);
        *(c < PLACES ? &f->buf[c] : &f->extended_buf[c - PLACES]) = r;
        f->extended_data[c] = r->data;
        if (c < PLACES)
            f->data[c] = r->data;
        see(seen, r->data[SAMPLES - 1] = (uint8_t)(c + 100));
    }
}

static void surface_make(AVFrame *f, int number, uint64_t *seen)
{
    f->format = SURFACE;
    f->buf[0] = buffer_make(16);
    f->data[3] = (uint8_t *)(uintptr_t)number;
    see(seen, (uint64_t)number);
}

static void side_make(AVFrame *f, uint64_t *seen)
{
    AVFrameSideData *side = PUT(AVFrameSideData);
    f->nb_side_data = 1;
    f->side_data = PUT(AVFrameSideData *);
    f->side_data[0] = side;
    side->type = 3;
    side->buf = buffer_make(36);
    side->data = side->buf->data;
    side->size = 36;
    see(seen, side->data[35] = 77);
    side->metadata = dictionary_make("rotation", "90", seen);
}

static stream *stream_make(uint64_t *seen)
{
    stream *s = PUT(stream);
    int i;
    s->count = FRAMES;
    s->frames = PUT_ARRAY(AVFrame *, FRAMES);
    for (i = 0; i < FRAMES; i++) {
        AVFrame *f = s->frames[i] = PUT(AVFrame);
        f->extended_data = f->data;
        f->opaque = (void *)(uintptr_t)i;
        if (i % 4 == 0)
            picture_make(f, i % 8 == 0, seen);
        if (i % 4 == 1)
            picture_turn(f, s->frames[i - 1], seen);
        if (i % 4 == 2)
            sound_make(f, seen);
        if (i % 4 == 3)
            surface_make(f, i, seen);
        if (i % 3 == 0)
            side_make(f, seen);
        if (i % 5 == 0)
            f->metadata = dictionary_make("lavf.time", "now", seen);
    }
    return s;
}

static void meet_picture(AVFrame *f, uint64_t *seen)
{
    int p, y;
    for (p = 0; p < 3; p++)
        for (y = 0; y < (p ? f->height / 2 : f->height); y++)
            see(seen, f->extended_data[p][y * f->linesize[p]]++);
}

static void meet_dictionary(AVDictionary *d, uint64_t *seen)
{
    see_text(seen, d->elems->key);
    see_text(seen, d->elems->value);
    d->elems->value[0] = '7';
}

static void stream_walk(void *argument)
{
    visit *v = argument;
    stream *s = v->root;
    int i, c;
    for (i = 0; i < s->count; i++) {
        AVFrame *f = s->frames[i];
        if (f->format == YUV420)
            meet_picture(f, &v->seen);
        for (c = 0; c < f->channels; c++)
            see(&v->seen, f->extended_data[c][f->nb_samples - 1]++);
        if (f->format == SURFACE)
            see(&v->seen, (uintptr_t)f->data[3]);
        if (f->nb_side_data) {
            see(&v->seen, f->side_data[0]->data[f->side_data[0]->size - 1]++);
            meet_dictionary(f->side_data[0]->metadata, &v->seen);
        }
        if (f->metadata)
            meet_dictionary(f->metadata, &v->seen);
        if (f->buf[0]->data < f->buf[0]->buffer->data)
            see(&v->seen, 0);
    }
}

TEST(structures_ffmpeg,
     AVFrame_planes_lines_and_channels_are_found_in_the_shared_buffers_that_frames_lead_into)
{
    journey j = { .walk = stream_walk };
    site_start(67);
    frames_open();
    j.root = stream_make(&j.seen);
    j.type = stream_type;
    travel(&j);
    frames_close();
    site_end();
}

TEST(structures_ffmpeg, AVFrame_data_that_leads_to_no_buffer_of_the_frame_is_refused)
{
    uint64_t seen = 0;
    stream *s;
    site_start(67);
    frames_open();
    s = stream_make(&seen);
    s->frames[2]->buf[1] = NULL;
    refuse_graph(s, stream_type, HAUL_ERROR_GRAPH, "root.frames[2].data[1]", NULL,
                 "an alias that leads to nothing that another pointer owns");
    frames_close();
    site_end();
}
