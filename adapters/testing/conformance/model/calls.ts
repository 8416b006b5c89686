import { withoutMessage } from "../../../../src/ports/index.ts";
import { failure, holds, Mismatch, same } from "../checks.ts";
import {
  checkEndsSoon,
  checkKind,
  runEventLoop,
  type Fixture,
  type ModelChecks,
} from "./fixture.ts";
import { asking, unusualTurns } from "./salon.ts";

/** Asks for the answers of all kinds at once, several times. */
async function askAtOnce(fixture: Fixture): Promise<void> {
  const asked = [1, 2, 3].flatMap(() => fixture.ways.map((behavior) => fixture.answer(behavior)));
  const names = fixture.ways.includes("finds_slot") ? ["day", "other_day"] : [];
  const slots = names.map(async (name) => {
    const turn = asking(fixture.turn("finds_slot"), { name });
    checkKind({ behavior: "finds_slot", turn, answer: await fixture.respond(turn) });
  });
  await Promise.all([...asked, ...slots]);
}

export const callChecks: ModelChecks = {
  "accept every turn that the engine can pass": {
    needs: ["replies"],
    async run(fixture) {
      for (const [what, turn] of unusualTurns(fixture.underTest.text("replies"))) {
        await fixture.respond(turn).catch((error: unknown) => {
          throw new Mismatch(`an answer to a turn ${what}`, String(error), error);
        });
      }
    },
  },
  "leave the turn unchanged": {
    needs: [],
    async run(fixture) {
      for (const behavior of fixture.ways) {
        const turn = fixture.turn(behavior);
        const before = structuredClone(turn);
        await fixture.respond(turn);
        same(turn, before, "the turn after the call");
      }
    },
  },
  "can be repeated": {
    needs: [],
    async run(fixture) {
      for (const behavior of fixture.ways) {
        const { turn } = await fixture.answer(behavior);
        checkKind({ behavior, turn, answer: await fixture.respond(turn) });
      }
    },
  },
  "do not mix up turns that run at once": { needs: [], run: askAtOnce },
  "reject when the model fails": {
    needs: ["fails"],
    run: async (fixture) =>
      void (await failure(() => fixture.respond(fixture.turn("fails")), "from `respond`")),
  },
  "reject when the answer is incomplete": {
    needs: ["stops_early"],
    run: async (fixture) =>
      void (await failure(() => fixture.respond(fixture.turn("stops_early")), "from `respond`")),
  },
  "reject with an error whose name, code and stack do not quote the contact": {
    needs: ["fails"],
    async run(fixture) {
      const error = await failure(() => fixture.respond(fixture.turn("fails")), "from `respond`");
      const logged = withoutMessage(error);
      const code = "code" in logged ? String(logged.code) : "";
      const text = `${logged.name} ${code} ${logged.stack}`;
      holds(
        !text.includes(fixture.underTest.text("fails")),
        "a name, a code and a stack without the contact's message, because they are logged",
        text,
      );
    },
  },
  "succeed after a call that failed": {
    needs: ["replies", "fails"],
    async run(fixture) {
      await fixture.respond(fixture.turn("fails")).catch(() => {});
      await fixture.answer("replies");
    },
  },
  "end within a second when the signal aborts": {
    needs: ["hangs"],
    async run(fixture) {
      const deadline = new AbortController();
      const call = fixture.respond(fixture.turn("hangs"), deadline.signal).catch(() => {});
      await runEventLoop();
      deadline.abort(new Error("The turn's time is over."));
      await checkEndsSoon(call);
    },
  },
  "end within a second when the signal had aborted before": {
    needs: ["hangs"],
    run: (fixture) => checkEndsSoon(fixture.respond(fixture.turn("hangs"), AbortSignal.abort())),
  },
};
