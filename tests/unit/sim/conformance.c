/* The model passes the conformance suite of the log interface. */
#include "connectors/sim/sim.h"
#include "tests/support/log_conformance.h"

#include "processor/base/banned.h"

static Log *connect_to(void *context)
{
    return sim_broker_connect(context);
}

static void compact(void *context, Log *log, const char *topic)
{
    (void)log;
    sim_broker_compact(context, topic);
}

int main(int argc, char **argv)
{
    AUTO(sim_broker) SimBroker *broker = sim_broker_new();
    LogConformanceTarget target = {.prefix = "conformance",
                                   .only = argc > 1 ? argv[1] : NULL,
                                   .connect = connect_to,
                                   .compact = compact,
                                   .context = broker};
    return log_conformance_run(&target);
}
