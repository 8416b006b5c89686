import * as z from "zod";
import { timestamp } from "../kernel/index.ts";

/** The verdict of one policy on a message. */
export interface PolicyVerdict {
  /** `consent`, `quiet_hours`, or the name of a policy of the host application. */
  readonly policy: string;
  /**
   * `allow`: the policy has no objection. `deny`: the message must not be sent. `defer`: the
   * message must wait until `until`.
   */
  readonly verdict: "allow" | "deny" | "defer";
  /** The reason code of a denial. */
  readonly code?: string | undefined;
  /** When a deferral ends. */
  readonly until?: string | undefined;
  /** The reason for a denial or deferral. */
  readonly message?: string | undefined;
}

export const policyVerdictSchema = z
  .strictObject({
    policy: z.string(),
    verdict: z.enum(["allow", "deny", "defer"]),
    code: z.string().optional(),
    until: timestamp.optional(),
    message: z.string().optional(),
  })
  .meta({ id: "PolicyVerdict" });
