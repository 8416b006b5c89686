/** The inputs of the operations that read playbooks. */
import * as z from "zod";
import { queryInteger, reference } from "../../kernel/index.ts";

/** Which playbook to get, and in which version. */
export interface GetPlaybook {
  /** The id of the playbook. */
  readonly id: string;
  /**
   * The version to get, such as the one that a run names. If absent, the current one. Old versions
   * are kept for some time after their last use.
   */
  readonly version?: number | undefined;
}

export const getPlaybookSchema = z.strictObject({
  id: reference.describe("The id of the playbook."),
  version: queryInteger(1, 2_147_483_647)
    .optional()
    .describe(
      "The version to get, such as the one that a run names. If absent, the current one. Old " +
        "versions are kept for some time after their last use.",
    ),
});
