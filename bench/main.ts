/** `npm run bench [-- sends express delivery webhooks agents search import postgres]`: figures side by side. They are told, never asserted. */
import { agents } from "./agents.ts";
import { delivery } from "./delivery.ts";
import { express } from "./express.ts";
import { imports } from "./import.ts";
import { postgres } from "./postgres.ts";
import { search } from "./search.ts";
import { sends } from "./sends.ts";
import { webhooks } from "./webhooks.ts";

const benches: Readonly<Record<string, () => Promise<string>>> = {
  sends,
  express,
  delivery,
  webhooks,
  agents,
  search,
  import: imports,
  postgres,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`usage: npm run bench [-- ${Object.keys(benches).join(" ")}]`);
  process.exit(2);
}
const told: string[] = [];
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length === 0 || wanted.includes(name)) told.push(await bench());
}
console.log(`\nbench: ${told.join("; ")}`);
