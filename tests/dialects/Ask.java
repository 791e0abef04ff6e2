import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

/** Asks Flink every query of a file, and prints one line for each: its value, or ERROR. */
class Ask {
    public static void main(String[] arguments) throws Exception {
        var flink = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        flink.getConfig().set("parallelism.default", "1");
        flink.getConfig().set("table.local-time-zone", "UTC");
        for (var query : Files.readAllLines(Path.of(arguments[0]))) {
            System.out.println(answer(flink, query));
        }
    }

    private static String answer(TableEnvironment flink, String query) {
        try (var rows = flink.executeSql(query).collect()) {
            var value = rows.next().getField(0);
            return value instanceof Object[] list ? Arrays.deepToString(list) : String.valueOf(value);
        } catch (Exception failure) {
            return "ERROR " + String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
        }
    }
}
