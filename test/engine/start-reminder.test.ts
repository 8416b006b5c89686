import { describe, expect, it } from "vitest";
import { hourMs, minuteMs } from "../../src/kernel/time.ts";
import { accepted, carrier } from "../support/engines/carrier.ts";
import { stopped, world, type World } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { lightStorages } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };

describe.each(lightStorages)(
  "an engine on $name that holds due work and was never started",
  ({ open }) => {
    const warnings = ({ log }: World) => log.filter(({ level }) => level === "warn");

    it("warns once after 5 s", async () => {
      const here = world();
      const web = here.engine(open().connect());
      await here.clock.advance(1_000);
      await web.messages.send(hello);
      await here.clock.advance(4_999);
      expect(warnings(here)).toEqual([]);
      await here.clock.advance(1);
      expect(warnings(here)).toEqual([
        {
          level: "warn",
          facts: { job: "send", due_at: "2026-01-01T00:00:01.000Z" },
          message: expect.stringContaining("call engine.start()") as string,
        },
      ]);
      await web.messages.send({ ...hello, to: "+15005550002" });
      await here.clock.advance(hourMs);
      expect(warnings(here)).toHaveLength(1);
    });

    it("warns of work that became due later, and of work of earlier runs", async () => {
      const here = world();
      const ground = open();
      const web = here.engine(ground.connect());
      await web.messages.send({ ...hello, send_at: "2026-01-01T01:00:00.000Z" });
      await here.clock.advance(hourMs + 4_999);
      expect(warnings(here)).toEqual([]);
      await here.clock.advance(1);
      expect(warnings(here)).toMatchObject([{ facts: { job: "release" } }]);
      await stopped(web, here.clock);
      const next = here.engine(ground.connect());
      await next.contacts.list();
      await here.clock.advance(5_000);
      expect(warnings(here)).toHaveLength(2);
    });

    it("warns of work that a process has left which runs no more", async () => {
      const here = world();
      const ground = open();
      let tell = (): void => {};
      const watch = (listener: () => void): (() => void) => {
        tell = listener;
        return () => {};
      };
      await here.engine(over(ground.connect(), { watch })).contacts.list();
      const brief = here.engine(ground.connect());
      await brief.messages.send(hello);
      await stopped(brief, here.clock);
      tell();
      await here.clock.advance(10_000);
      expect(warnings(here)).toMatchObject([{ facts: { job: "send" } }]);
    });

    it("does not keep the process alive meanwhile, and leaves no timer behind when it stops", async () => {
      const here = world();
      const { now, monotonic, sleep } = here.clock;
      const refs: (boolean | undefined)[] = [];
      let sleeping = 0;
      const web = here.engine(open().connect(), {
        clock: {
          now,
          monotonic,
          async sleep(ms, signal, options) {
            refs.push(options?.ref);
            sleeping++;
            await sleep(ms, signal, options);
            sleeping--;
          },
        },
      });
      await web.messages.send(hello);
      await here.clock.advance(4_500);
      expect(new Set(refs)).toEqual(new Set([false]));
      expect(sleeping).toBe(1);
      await stopped(web, here.clock);
      expect(sleeping).toBe(0);
    });

    it("is silent without due work, and when it starts or stops before", async () => {
      const here = world();
      await here.engine(open().connect()).contacts.create({ name: "Zoe" });
      const [late, brief] = [here.engine(open().connect()), here.engine(open().connect())];
      await late.messages.send(hello);
      await brief.messages.send(hello);
      await here.clock.advance(4_500);
      await late.start();
      await stopped(brief, here.clock);
      await here.clock.advance(hourMs);
      expect(warnings(here)).toEqual([]);
    });

    it("is silent while another engine runs its work, also with a backlog", async () => {
      const here = world();
      const ground = open();
      const slow = carrier({
        async send(_message, attempt) {
          await here.clock.sleep(3_000);
          return accepted(attempt);
        },
      });
      const options = { transports: [slow], laneConcurrency: 1 };
      await here.started(ground.connect(), options);
      const web = here.engine(ground.connect(), { transports: [carrier()] });
      const recipients = Array.from({ length: 10 }, (_, i) => `+1500555010${i}`);
      await Promise.all(recipients.map((to) => web.messages.send({ ...hello, to })));
      await here.clock.advance(minuteMs);
      expect(slow.calls).toHaveLength(10);
      expect(warnings(here)).toEqual([]);
    });
  },
);
