import { expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { call, jsonOf } from "./call.ts";

test("a request for a feature that is not configured cannot fill the log with errors", async () => {
  const { engine, log } = world();
  const one = engine(memory(), { transports: [carrier()] });
  const { secret } = await one.apiKeys.create({ name: "any" });
  const path = "/v1/webhooks";
  const body = { url: "https://shop.example/hook", events: ["*"] };
  const answer = await call(one.api, { method: "POST", path, key: secret, body });
  expect(jsonOf(answer)).toMatchObject({ status: 501, code: "not_configured" });
  expect(log).toMatchObject([{ level: "debug", facts: { path } }]);
});
