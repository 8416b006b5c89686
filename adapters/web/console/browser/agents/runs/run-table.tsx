/** How runs are shown: their status, their trigger, their time, and a table of them. */
import type { JSX } from "preact";
import type { Run } from "../../../../../../src/index.ts";
import {
  Badge,
  exactDuration,
  linkTo,
  number,
  type Tone,
} from "../../../../shared/browser/index.ts";
import { shownContact } from "../../contacts.ts";
import { Table } from "../../parts/table.tsx";
import { NoValue, When } from "../../parts/values.tsx";
import { t } from "../../texts.ts";

const tones: { readonly [status in Run["status"]]: Tone } = {
  running: "accent",
  awaiting_approval: "warn",
  completed: "good",
  handed_off: "neutral",
  failed: "bad",
  canceled: "neutral",
};

export const runName = (status: Run["status"]): string =>
  ({
    running: t("runRunning"),
    awaiting_approval: t("runAwaiting"),
    completed: t("runCompleted"),
    handed_off: t("runHandedOff"),
    failed: t("statusFailed"),
    canceled: t("statusCanceled"),
  })[status];

export const runStatuses = Object.keys(tones) as readonly Run["status"][];

export const RunStatus = ({ of }: { readonly of: Run["status"] }): JSX.Element => (
  <Badge tone={tones[of]}>{runName(of)}</Badge>
);

export const triggerName = (type: Run["trigger"]["type"]): string =>
  ({ inbound: t("triggerInbound"), api: t("triggerApi"), handback: t("triggerHandback") })[type];

/** How long a run took. Null while it is under way. */
export const runTime = ({ created_at, finished_at }: Run): string | null =>
  finished_at === null ? null : exactDuration(Date.parse(finished_at) - Date.parse(created_at));

interface RunTableProps {
  readonly rows: readonly Run[];
  /** The names of playbooks by their ids, as far as they are known. */
  readonly playbooks: ReadonlyMap<string, string>;
}

/** Runs, with the contact, what started each, and the playbook that it played. */
export function RunTable({ rows, playbooks }: RunTableProps): JSX.Element {
  return (
    <Table
      label={t("runs")}
      rows={rows}
      keyOf={({ id }) => id}
      linkOf={({ agent_id, id }) => linkTo(["agents", agent_id, id])}
      columns={[
        {
          label: t("columnContact"),
          cell: ({ trigger, playbook_id, conversation_id }) => {
            const why = [playbooks.get(playbook_id ?? ""), triggerName(trigger.type)];
            return (
              <span class="two-lines">
                <bdi class="truncate">{shownContact(conversation_id)}</bdi>
                <bdi class="truncate muted">{why.filter(Boolean).join(" · ")}</bdi>
              </span>
            );
          },
        },
        { label: t("columnStatus"), cell: ({ status }) => <RunStatus of={status} /> },
        { label: t("columnSteps"), isNumeric: true, cell: ({ steps }) => number(steps.length) },
        {
          label: t("columnTokens"),
          isNumeric: true,
          cell: ({ usage }) => number(usage.input_tokens + usage.output_tokens),
        },
        {
          label: t("columnDuration"),
          isNumeric: true,
          cell: (run) => <span class="nowrap">{runTime(run) ?? <NoValue />}</span>,
        },
        {
          label: t("columnCreated"),
          isNumeric: true,
          cell: ({ created_at }) => <When at={created_at} />,
        },
      ]}
    />
  );
}
