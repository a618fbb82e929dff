# shellcheck shell=bash disable=SC2034
# What figures.c is compiled of. Sourced where $source is the root of the repository.
figures=(-I"$source/tests" -I"$source/src"
    "$source"/tests/openmp/{figures,associations}.c
    "$source"/tests/bench/{environments,environment_calls,support,report,table}.c)
