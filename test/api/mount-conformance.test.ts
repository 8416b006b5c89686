import fastify from "fastify";
import { describe, it } from "vitest";
import { expressHandler } from "../../adapters/http/express.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { mountConformance, type MountNeed } from "../../adapters/testing/index.ts";
import { cases, isLong } from "../support/runs.ts";
import { mountings, serve, type Mounting } from "./servers.ts";

/** What the middleware before a mount, or its framework, cannot do. */
function unableOf({ name, before }: Mounting): Partial<Record<MountNeed, string>> {
  return {
    ...(before === "express.json" && { raw_bytes: "express.json() does not keep the bytes" }),
    ...(before === "Request" && {
      address: "a Request has no address",
      pipelining: "the server calls the function in any order",
      closing: "the server ends the response",
    }),
    ...(/^(?:node:http|fetch)/.test(name) && { passes_on: "the mount answers every request" }),
  };
}

/** Each framework under a path and after each body parser. The rest differs by the path only. */
const different = mountings.filter(
  ({ prefix, before }) => prefix !== "" || before === "koa-bodyparser",
);

/** Each framework once, and Express, the most common one, in both ways. */
const few = new Set([
  "node:http under a path",
  "Express under a path",
  "Express under a path after express.json()",
  "Koa after koa-bodyparser",
  "fetch under a path in Hono",
]);

for (const mounting of cases(different, ({ name }) => few.has(name))) {
  mountConformance({ describe, it }, mounting.name, {
    async serve(engine) {
      const running = await serve(mounting, engine);
      return { url: running.base, close: async () => running[Symbol.asyncDispose]() };
    },
    unable: unableOf(mounting),
  });
}

mountConformance({ describe, it }, "Fastify as docs/frameworks.md mounts it", {
  async serve(engine) {
    const app = fastify({ forceCloseConnections: true });
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
      const messaging = nodeHandler(engine, { basePath: "/messaging" });
      scope.all("/messaging/*", (request, reply) => {
        reply.hijack();
        messaging(request.raw, reply.raw);
      });
    });
    const url = `${await app.listen({ port: 0, host: "127.0.0.1" })}/messaging`;
    return { url, close: () => app.close() };
  },
  unable: { passes_on: "the route takes every path under the prefix" },
});

// It mounts the handler for Express, which is tried above.
describe.runIf(isLong)("a framework on Express", () => {
  mountConformance({ describe, it }, "NestJS as docs/frameworks.md mounts it", {
    async serve(engine) {
      const { Module } = await import("@nestjs/common");
      const { NestFactory } = await import("@nestjs/core");
      // oxlint-disable-next-line typescript/no-extraneous-class -- a module of Nest is a class
      class AppModule {}
      Module({})(AppModule);
      const app = await NestFactory.create(AppModule, {
        forceCloseConnections: true,
        logger: false,
      });
      app.use("/messaging", expressHandler(engine));
      await app.listen(0, "127.0.0.1");
      return { url: `${await app.getUrl()}/messaging`, close: () => app.close() };
    },
  });
});
