import { withoutMessage } from "../../../src/ports/index.ts";
import { failure, holds, Mismatch, same } from "../checks.ts";
import { type Bench, checkKind, endsSoon, type ModelChecks, underWay } from "./bench.ts";
import { asking, unusualTurns } from "./salon.ts";

/** Asks for the answers of all kinds at once, several times. */
async function askAtOnce(bench: Bench): Promise<void> {
  const asked = [1, 2, 3].flatMap(() => bench.ways.map((behavior) => bench.answer(behavior)));
  const names = bench.ways.includes("finds_slot") ? ["day", "other_day"] : [];
  const slots = names.map(async (name) => {
    const turn = asking(bench.turn("finds_slot"), { name });
    checkKind({ behavior: "finds_slot", turn, answer: await bench.respond(turn) });
  });
  await Promise.all([...asked, ...slots]);
}

export const callChecks: ModelChecks = {
  "accept every turn that the engine can pass": {
    needs: ["replies"],
    async run(bench) {
      for (const [what, turn] of unusualTurns(bench.under.text("replies"))) {
        await bench.respond(turn).catch((error: unknown) => {
          throw new Mismatch(`an answer to a turn ${what}`, String(error), error);
        });
      }
    },
  },
  "leave the turn unchanged": {
    needs: [],
    async run(bench) {
      for (const behavior of bench.ways) {
        const turn = bench.turn(behavior);
        const before = structuredClone(turn);
        await bench.respond(turn);
        same(turn, before, "the turn after the call");
      }
    },
  },
  "can be repeated": {
    needs: [],
    async run(bench) {
      for (const behavior of bench.ways) {
        const { turn } = await bench.answer(behavior);
        checkKind({ behavior, turn, answer: await bench.respond(turn) });
      }
    },
  },
  "do not mix up turns that run at once": { needs: [], run: askAtOnce },
  "reject when the model fails": {
    needs: ["fails"],
    run: async (bench) =>
      void (await failure(() => bench.respond(bench.turn("fails")), "from `respond`")),
  },
  "reject when the answer is incomplete": {
    needs: ["stops_early"],
    run: async (bench) =>
      void (await failure(() => bench.respond(bench.turn("stops_early")), "from `respond`")),
  },
  "reject with an error whose name, code and stack do not quote the contact": {
    needs: ["fails"],
    async run(bench) {
      const error = await failure(() => bench.respond(bench.turn("fails")), "from `respond`");
      const logged = withoutMessage(error);
      const code = "code" in logged ? String(logged.code) : "";
      const text = `${logged.name} ${code} ${logged.stack}`;
      holds(
        !text.includes(bench.under.text("fails")),
        "a name, a code and a stack without the contact's message, because they are logged",
        text,
      );
    },
  },
  "succeed after a call that failed": {
    needs: ["replies", "fails"],
    async run(bench) {
      await bench.respond(bench.turn("fails")).catch(() => {});
      await bench.answer("replies");
    },
  },
  "end within a second when the signal aborts": {
    needs: ["hangs"],
    async run(bench) {
      const deadline = new AbortController();
      const call = bench.respond(bench.turn("hangs"), deadline.signal).catch(() => {});
      await underWay();
      deadline.abort(new Error("The turn's time is over."));
      await endsSoon(call);
    },
  },
  "end within a second when the signal had aborted before": {
    needs: ["hangs"],
    run: (bench) => endsSoon(bench.respond(bench.turn("hangs"), AbortSignal.abort())),
  },
};
