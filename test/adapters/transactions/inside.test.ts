import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { MessagingEngine } from "../../../src/engine.ts";
import { held } from "../../support/engines/carrier.ts";
import { world } from "../../support/engines/world.ts";
import { hosts, note } from "./hosts.ts";

const hello = { to: "+15005550001", body: "Hello" };

describe.each(hosts)("a call from inside engine.transaction on $name without tx", ({ open }) => {
  const calls: Record<string, (engine: MessagingEngine<object>) => Promise<unknown>> = {
    "a command": ({ messages }) => messages.send(hello),
    "a command with a key": ({ messages }) => messages.send(hello, { idempotencyKey: "k" }),
    "a batch": ({ messages }) => messages.batch({ messages: [hello] }, { idempotencyKey: "b" }),
    "a batch without a key": ({ messages }) => messages.batch({ messages: [hello] }),
    "another transaction": (engine) => engine.transaction(async () => "never"),
    "a command after some awaits": async ({ messages }) => {
      await messages.list();
      return messages.send(hello);
    },
  };

  it("is refused at once, and the transaction leaves no trace", async () => {
    // Without the check, the call would wait for a timer.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const host = await open();
    const engine = world().engine(host.connect());
    for (const [name, call] of Object.entries(calls)) {
      const work = engine.transaction(async (tx) => {
        await engine.contacts.create({ name: "Zoe" }, { tx });
        await call(engine);
      });
      await expect(work, name).rejects.toMatchObject({
        code: "invalid_option",
        retryable: false,
        message: expect.stringMatching(
          /^tx: this call comes from inside a transaction .* \{ tx \}/,
        ),
      });
    }
    expect((await engine.contacts.list()).data).toEqual([]);
    expect((await engine.messages.list()).data).toEqual([]);
    await engine.messages.send(hello);
  });

  it("is refused in a consumer's handler too", async () => {
    const host = await open();
    const engine = world().engine(host.connect());
    const refused = held<unknown>();
    engine.consume("replies", ["message.received"], async () => {
      await engine.messages.send(hello).catch(refused.answer);
    });
    await engine.start();
    await engine.sandbox.inbound({ from: hello.to, body: "Hi" });
    expect(await refused.promise).toMatchObject({ code: "invalid_option" });
  });

  it("is accepted when the transaction has ended", async () => {
    const host = await open();
    const engine = world().engine(host.connect());
    const ended = held<undefined>();
    const { later } = await engine.transaction(async (tx) => {
      await engine.messages.send(hello, { tx });
      return { later: ended.promise.then(() => engine.messages.send(hello)) };
    });
    ended.answer(undefined);
    expect(await later).toMatchObject({ status: "queued" });
    expect((await engine.messages.list()).data).toHaveLength(2);
  });
});

describe.each(hosts)("a command in engine.transaction on $name that is not awaited", ({ open }) => {
  it("makes the transaction roll back", async () => {
    const host = await open();
    const one = world().engine(host.connect());
    const told: string[] = [];
    one.on("conversation.created", (event) => void told.push(event.id));
    await one.account().get();
    for (const returnsAfter of ["none", "the first"]) {
      const late: Promise<unknown>[] = [];
      const failed = one.transaction(async (tx) => {
        await host.run(tx, note("order 17"));
        await one.messages.send(hello, { tx });
        const send = (body: string) => one.messages.send({ ...hello, body }, { tx });
        late.push(...["a", "b", "c"].map((body) => send(body).catch((error: unknown) => error)));
        if (returnsAfter === "the first") await late[0];
      });
      await expect(failed).rejects.toMatchObject({
        code: "invalid_option",
        retryable: false,
        message: expect.stringMatching(/^transaction: .* Await each command/),
      });
      // The second command may run when the function returns, the third one cannot.
      expect(await late[2]).toMatchObject({
        code: "invalid_option",
        message: "tx: this transaction has ended. Use the handle before it commits.",
      });
    }
    expect([await host.notes(), (await one.messages.list()).data, told]).toEqual([[], [], []]);
  });

  it("is refused when it comes to the transaction after its end", async () => {
    const host = await open();
    const one = world().engine(host.connect());
    await one.account().get();
    let late: Promise<unknown[]> = Promise.resolve([]);
    const failed = one.transaction(async (tx) => {
      const sendAfter = async (earlier: Promise<unknown[]>): Promise<unknown[]> => {
        const errors = await earlier;
        const error = await one.messages.send(hello, { tx }).catch((reason: unknown) => reason);
        return [...errors, error];
      };
      late = sendAfter(sendAfter(sendAfter(Promise.resolve([]))));
      void one.messages.send(hello, { tx }).catch(() => {});
    });
    await expect(failed).rejects.toMatchObject({ code: "invalid_option" });
    const refused = {
      code: "invalid_option",
      message: "tx: this transaction has ended. Use the handle before it commits.",
    };
    expect(await late).toMatchObject([refused, refused, refused]);
  });

  it("makes a consumer's handler fail, which is called again", async () => {
    const host = await open();
    const { clock, engine, log } = world();
    const one = engine(host.connect());
    const tried: Promise<unknown>[] = [];
    one.consume("replies", ["message.received"], async (_event, { tx }) => {
      const reply = one.messages.send({ ...hello, body: "Reply" }, { tx });
      tried.push(reply.catch(() => {}));
      if (tried.length > 1) await reply;
    });
    await one.start();
    await one.sandbox.inbound({ from: hello.to, body: "Hi" });
    await clock.advanceUntil(() => tried.length > 1);
    await Promise.all(tried);
    const { data } = await one.messages.list();
    expect(data.filter(({ body }) => body === "Reply")).toHaveLength(1);
    expect(log.map(({ message }) => message)).toContain(
      "a consumer failed to process an event; retrying",
    );
  });
});
