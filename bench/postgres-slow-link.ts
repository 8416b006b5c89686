/** A long line to the database that its argument names: tells its parent the URL there, and ends when that lets go. */
import { PostgresProxy } from "../test/support/postgres-proxy.ts";

const [url = ""] = process.argv.slice(2);
const proxy = await PostgresProxy.open(url);
// 1.5 ms each way; timers have whole milliseconds, and what is to wait for less than one waits for one.
proxy.delayMs = 1.5;
process.send?.(proxy.url);
process.once("disconnect", () => process.exit(0));
