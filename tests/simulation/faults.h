/* Faults: what goes wrong between a process and the broker, and inside the process, as the seed
 * says. Calls of the world never fail. */
#ifndef TESTS_SIMULATION_FAULTS_H
#define TESTS_SIMULATION_FAULTS_H

#include "connectors/sim/sim.h"

/* How often things fail is drawn from the seed: some runs see no failed call, some see little else.
 */
void faults_open(uint64_t seed, SimBroker *broker);
/* Off: everything works from now on. */
void faults_set(bool on);
/* The process dies at its nth call or fault point from now. */
void faults_crash_in(int group, uint32_t calls);

#endif
