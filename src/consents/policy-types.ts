/** What policies said of a message. */
import { z } from "zod";
import { timestamp } from "../kernel/index.ts";

export const policyVerdictSchema = z
  .strictObject({
    policy: z.string().meta({ description: "`consent`, `quiet_hours`, or a rule of the host's." }),
    verdict: z.enum(["allow", "deny", "defer"]),
    code: z.string().optional().meta({ description: "Of a denial." }),
    until: timestamp.optional().meta({ description: "Of a deferral: not before." }),
    message: z.string().optional().meta({ description: "Why, unless it is allowed." }),
  })
  .meta({ id: "PolicyVerdict", description: "Whether a policy lets a message out now." });
export interface PolicyVerdict extends z.infer<typeof policyVerdictSchema> {}
