/**
 * A slow connection to the database in its argument. Sends its parent the URL, and exits with it.
 */
import { PostgresProxy } from "../../test/support/postgres/proxy.ts";

const [url = ""] = process.argv.slice(2);
const proxy = await PostgresProxy.open(url);
// 1.5 ms each way. A timer for less than 1 ms waits for 1 ms.
proxy.delayMs = 1.5;
process.send?.(proxy.url);
process.once("disconnect", () => process.exit(0));
