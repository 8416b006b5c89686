import * as z from "zod";
import { errorCodes, type ErrorCode } from "../kernel/index.ts";

/** Whether the engine is ready: whether it can commit commands now. */
export interface Health {
  /** `ok` if the engine is ready, otherwise `unavailable`. */
  readonly status: "ok" | "unavailable";
  /** Why the engine is not ready. Empty if it is. */
  readonly reasons: HealthReason[];
}

/** A reason why the engine is not ready. */
export interface HealthReason {
  /** The code of the error that commands get. New codes may be added. */
  readonly code: ErrorCode;
  /** An explanation for people. */
  readonly message: string;
}

const healthReasonSchema = z
  .object({
    code: z.enum(errorCodes),
    message: z.string(),
  })
  .meta({ id: "HealthReason" });

export const healthSchema = z
  .object({
    status: z.enum(["ok", "unavailable"]),
    reasons: z.array(healthReasonSchema),
  })
  .meta({ id: "Health" });
