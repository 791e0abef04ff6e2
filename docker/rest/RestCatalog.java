/* Iceberg's own REST catalog, as its tests run it, over a catalog in a database: it has no accounts
 * and is for trying things on one machine. Run from its source, with the jars of "rest" in
 * jobs/demos/servers/ivy.xml:
 *
 *     java -cp 'jars/*' RestCatalog.java 127.0.0.1 8181 catalog.properties
 */

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

public final class RestCatalog {

  /** Serves the catalog with the properties of a file at a host and port, until it is stopped. */
  public static void main(String[] arguments) throws Exception {
    var address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
    var catalog =
        CatalogUtil.buildIcebergCatalog("lake", read(Path.of(arguments[2])), new Configuration());
    var context = new ServletContextHandler();
    var servlet = new RESTCatalogServlet(new RESTCatalogAdapter(catalog));
    context.addServlet(new ServletHolder(servlet), "/*");
    var server = new Server(address);
    server.setHandler(context);
    server.start();
    server.join();
  }

  private static Map<String, String> read(Path file) throws Exception {
    var read = new Properties();
    try (var reader = Files.newBufferedReader(file)) {
      read.load(reader);
    }
    var properties = new HashMap<String, String>();
    read.stringPropertyNames().forEach(name -> properties.put(name, read.getProperty(name)));
    return properties;
  }
}
