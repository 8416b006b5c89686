import { z } from "zod";
import type { Query } from "../operations/index.ts";
import type { SandboxNumbers } from "./types.ts";

const nothing = z.strictObject({});

/** The numbers that the sandbox's transports simulate, and what each does. */
export const listSandboxNumbers: Query<Record<string, never>, SandboxNumbers> = {
  kind: "query",
  name: "sandbox.numbers",
  input: () => nothing,
  run(_reads, _input, { services }) {
    const simulated = services.transports.filter(({ capabilities }) =>
      capabilities.modes.includes("sandbox"),
    );
    const numbers = simulated.flatMap(({ test_numbers = [] }) => test_numbers);
    return Promise.resolve({
      data: numbers.map(({ number, behaviour }) => ({ number, behaviour })),
    });
  },
};
