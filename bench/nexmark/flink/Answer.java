import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.assigners.SimpleSplitAssigner;
import org.apache.flink.formats.parquet.ParquetColumnarRowInputFormat;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.VarCharType;

/**
 * Answers every query of a file over some folders of events, and prints a line of JSON for each.
 *
 * <p>All queries run on one cluster inside this process, as all queries of a Spark session do.
 */
class Answer {
    private static final int ROWS_AT_ONCE = 2048;
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final Pattern QUERY =
            Pattern.compile("(?ms)^-- (q\\d+): [^\n]+\n(.*?)(?=^-- q\\d|\\z)");
    private static final Pattern READS = Pattern.compile("(?m)^-- (\\w+): ([\\w, ]+)$");
    private static final Pattern COMMENT = Pattern.compile("(?m)^--.*\n");

    private final Configuration streaming = new Configuration();
    private final Configuration batch = new Configuration();
    private final Path folder;
    private final URI address;

    public static void main(String[] arguments) throws Exception {
        var queries = QUERY.matcher(Files.readString(Path.of(arguments[0]))).results().toList();
        int cores = Integer.parseInt(arguments[1]);
        try (var cluster = start(cores)) {
            var answer = new Answer(cluster, cores, Path.of(arguments[2]));
            for (var events : List.of(arguments).subList(3, arguments.length)) {
                for (var query : queries) {
                    answer.print(query.group(1), query.group(2), Path.of(events));
                }
            }
        }
        System.exit(0);
    }

    private static MiniCluster start(int cores) throws Exception {
        var settings = new Configuration();
        settings.setString("rest.port", "0");
        settings.setString("rest.address", "localhost");
        var configuration = new MiniClusterConfiguration.Builder()
                .setConfiguration(settings)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(cores)
                .build();
        var cluster = new MiniCluster(configuration);
        cluster.start();
        return cluster;
    }

    private Answer(MiniCluster cluster, int cores, Path folder) throws Exception {
        this.folder = folder;
        address = cluster.getRestAddress().get();
        for (var each : List.of(streaming, batch)) {
            each.setString("execution.target", "remote");
            each.setString("rest.address", address.getHost());
            each.setString("rest.port", String.valueOf(address.getPort()));
            each.setString("parallelism.default", String.valueOf(cores));
            each.setString("table.local-time-zone", "UTC");
        }
        var checkpoints = folder.resolve("checkpoints").toUri().toString();
        streaming.setString("execution.checkpointing.dir", checkpoints);
        streaming.setString("execution.checkpointing.interval", "1 s");
        streaming.setString("restart-strategy.type", "none"); // a failure is reported at once
        streaming.setString("pipeline.object-reuse", "true");
        streaming.setString("table.exec.mini-batch.enabled", "true");
        streaming.setString("table.exec.mini-batch.allow-latency", "1 s");
        streaming.setString("table.exec.mini-batch.size", "5000");
    }

    /** Answers one query over one folder of events, and prints what it took or why it fails. */
    private void print(String name, String text, Path events) {
        var table = name + "_" + events.getParent().getFileName();
        var found = "{\"query\": \"" + name + "\", ";
        try {
            long before = SYSTEM.getProcessCpuTime();
            answer(text, "lake.bench." + table, events);
            double used = (SYSTEM.getProcessCpuTime() - before) / 1e9;
            found += "\"cpu\": " + used + ", \"rows\": \"" + copy(table) + "\"}";
        } catch (Exception failure) {
            failure.printStackTrace();
            found += "\"why\": \"" + reason(failure) + "\"}";
        }
        System.out.println(found);
    }

    private void answer(String text, String table, Path events) throws Exception {
        var environment = StreamExecutionEnvironment.createRemoteEnvironment(
                address.getHost(), address.getPort(), streaming);
        var flink = StreamTableEnvironment.create(environment);
        open(flink);
        for (var reads : READS.matcher(text).results().toList()) {
            var columns = reads.group(2).split(", ");
            register(environment, flink, events.resolve(reads.group(1)), columns);
        }
        var statements = COMMENT.matcher(text).replaceAll("").replace("{answer}", table);
        for (var statement : statements.split(";")) {
            if (!statement.isBlank()) {
                flink.executeSql(statement).await();
            }
        }
    }

    /** Copies a table into one without deletes; returns the folder of its files. */
    private Path copy(String table) throws Exception {
        var settings = EnvironmentSettings.newInstance().inBatchMode().withConfiguration(batch);
        var flink = TableEnvironment.create(settings.build());
        open(flink);
        var rows = " AS SELECT * FROM lake.bench." + table;
        flink.executeSql("CREATE TABLE lake.copies." + table + rows).await();
        return folder.resolve("warehouse/copies").resolve(table).resolve("data");
    }

    private void open(TableEnvironment flink) {
        flink.executeSql("CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop',"
                + " 'warehouse' = '" + folder.resolve("warehouse").toUri() + "')");
        flink.executeSql("CREATE DATABASE IF NOT EXISTS lake.bench");
        flink.executeSql("CREATE DATABASE IF NOT EXISTS lake.copies");
    }

    /**
     * Registers the files of a folder as a stream, in the order of their names.
     *
     * <p>Flink's own table of files reads them in any order, so rows could come too late.
     */
    private static void register(
            StreamExecutionEnvironment environment,
            StreamTableEnvironment flink,
            Path folder,
            String[] columns)
            throws IOException {
        var name = folder.getFileName().toString();
        var types = Stream.of(columns).map(Answer::type).toArray(LogicalType[]::new);
        var source = FileSource.forBulkFileFormat(format(types, columns), newestFirst(folder))
                .setSplitAssigner(SimpleSplitAssigner::new) // it hands out the last one first
                .build();
        var stream = environment.fromSource(source, WatermarkStrategy.noWatermarks(), name);
        var schema = Schema.newBuilder();
        for (int each = 0; each < columns.length; each++) {
            schema.column(columns[each], types[each].asSerializableString());
        }
        schema.watermark("date_time", "date_time - INTERVAL '4' SECOND");
        flink.createTemporaryView(name, stream, schema.build());
    }

    private static ParquetColumnarRowInputFormat<FileSourceSplit> format(
            LogicalType[] types, String[] columns) {
        var row = RowType.of(types, columns);
        var hadoop = new org.apache.hadoop.conf.Configuration();
        var made = InternalTypeInfo.of(row);
        return new ParquetColumnarRowInputFormat<>(hadoop, row, made, ROWS_AT_ONCE, true, true);
    }

    private static org.apache.flink.core.fs.Path[] newestFirst(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.sorted(Comparator.reverseOrder())
                    .map(each -> new org.apache.flink.core.fs.Path(each.toUri()))
                    .toArray(org.apache.flink.core.fs.Path[]::new);
        }
    }

    private static LogicalType type(String column) {
        return switch (column) {
            case "date_time" -> new TimestampType(3);
            case "name", "channel", "url", "extra" -> new VarCharType(VarCharType.MAX_LENGTH);
            default -> new BigIntType();
        };
    }

    private static String reason(Throwable failure) {
        while (failure.getCause() != null) {
            failure = failure.getCause();
        }
        var first = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
        return first.replace("\\", "\\\\").replace("\"", "\\\"").replace("\t", " ");
    }
}
