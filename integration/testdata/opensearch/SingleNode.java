import java.util.List;
import java.util.Map;

import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Settings;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/**
 * Runs one node of OpenSearch in this process, with the plug-ins of the class path. Arguments are settings, name=value. Once it answers, a
 * line "address 127.0.0.1:PORT" is printed. It ends when its standard input does, and so with the process that started it.
 */
public final class SingleNode {
    private static final class ClassPathNode extends Node {
        ClassPathNode(Settings settings) {
            super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "node"),
                    List.of(Netty4Plugin.class), false);
        }
    }

    private SingleNode() {}

    public static void main(String[] args) throws Exception {
        Settings.Builder builder = Settings.builder()
                .put("node.name", "node")
                .put("network.host", "127.0.0.1")
                .put("discovery.type", "single-node")
                // A machine of a developer may have a full disk and still run tests.
                .put("cluster.routing.allocation.disk.threshold_enabled", false);
        for (String arg : args) {
            int equals = arg.indexOf('=');
            builder.put(arg.substring(0, equals), arg.substring(equals + 1));
        }
        Settings settings = builder.build();
        LogConfigurator.configureWithoutConfig(settings);
        try (ClassPathNode node = new ClassPathNode(settings)) {
            node.start();
            HttpServerTransport http = node.injector().getInstance(HttpServerTransport.class);
            System.out.println("address " + http.boundAddress().publishAddress());
            while (System.in.read() >= 0) {
                // Nothing is said to it but the end.
            }
        }
        System.exit(0);
    }
}
