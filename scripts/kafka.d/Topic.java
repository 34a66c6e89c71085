// What `scripts/kafka create, produce, read, elect` do; the broker's jars hold the client.
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.*;

public class Topic {
    static Map<String, Object> settings(String bootstrap) {
        return new HashMap<>(Map.of("bootstrap.servers", bootstrap));
    }

    static void create(String bootstrap, String topic, int partitions) throws Exception {
        try (Admin admin = Admin.create(settings(bootstrap))) {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(partitions), Optional.empty()))).all().get();
        }
    }

    // A record a line, empty lines left out; the key stays null.
    static void produce(String bootstrap, String topic) throws Exception {
        var lines = new Scanner(System.in, StandardCharsets.UTF_8);
        var sent = new ArrayList<java.util.concurrent.Future<RecordMetadata>>();
        try (var producer = new KafkaProducer<>(settings(bootstrap), new StringSerializer(), new StringSerializer())) {
            while (lines.hasNextLine()) {
                String line = lines.nextLine();
                if (!line.isBlank()) {
                    sent.add(producer.send(new ProducerRecord<>(topic, line)));
                }
            }
            producer.flush();
        }
        for (var record : sent) {
            record.get();
        }
        System.err.println(sent.size() + " records in " + topic);
    }

    static void print(ConsumerRecord<String, String> record) {
        var line = new StringBuilder(record.partition() + ":" + record.offset() + "  " + record.key() + "  "
            + (record.value() == null ? "(tombstone)" : record.value()));
        for (Header header : record.headers()) {
            line.append("\n    ").append(header.key()).append(": ")
                .append(header.value() == null ? "null" : new String(header.value(), StandardCharsets.UTF_8));
        }
        System.out.println(line);
    }

    // What is committed, up to the ends of now.
    static void read(String bootstrap, String topic) {
        Map<String, Object> settings = settings(bootstrap);
        settings.put("isolation.level", "read_committed");
        settings.put("enable.auto.commit", false);
        settings.put("allow.auto.create.topics", false);
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            var partitions = consumer.partitionsFor(topic).stream()
                .map(p -> new TopicPartition(topic, p.partition())).toList();
            if (partitions.isEmpty()) {
                throw new IllegalArgumentException("there is no topic '" + topic + "'");
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            var ends = consumer.endOffsets(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                consumer.poll(Duration.ofMillis(200)).forEach(Topic::print);
            }
        }
    }

    // Partitions that are led by their preferred replica already are no failure.
    static void elect(String bootstrap) throws Exception {
        try (Admin admin = Admin.create(settings(bootstrap))) {
            var results = admin.electLeaders(ElectionType.PREFERRED, null).partitions().get();
            for (var result : results.entrySet()) {
                if (result.getValue().isPresent()
                    && !(result.getValue().get() instanceof ElectionNotNeededException)) {
                    throw new ExecutionException(result.getKey() + ": " + result.getValue().get().getMessage(), null);
                }
            }
            System.out.println(results.size() + " partitions have a new leader");
        }
    }

    public static void main(String[] arguments) throws Exception {
        try {
            switch (arguments[0]) {
                case "create" -> create(arguments[1], arguments[2], Integer.parseInt(arguments[3]));
                case "elect" -> elect(arguments[1]);
                case "produce" -> produce(arguments[1], arguments[2]);
                default -> read(arguments[1], arguments[2]);
            }
        } catch (Exception e) {
            Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
            System.err.println("scripts/kafka: " + cause.getMessage());
            System.exit(1);
        }
    }
}
