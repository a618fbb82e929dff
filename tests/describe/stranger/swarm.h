/* A header as a stranger has it: four pointers, and no word of Haul. */
#ifndef SWARM_H
#define SWARM_H

typedef struct particle {
    double position[3], speed[3];
} particle;

typedef struct swarm {
    int n;
    particle *particles; /* n of them */
    double *mass;        /* n of them */
    char *name;
    struct swarm *next;
} swarm;

#endif
