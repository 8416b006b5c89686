/** How runs and agents are shown. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Agent, Playbook, Run } from "../../../../../src/index.ts";
import {
  api,
  Badge,
  Button,
  exactDuration,
  go,
  IconButton,
  linkTo,
  may,
  number,
  type Resource,
  Table,
  toast,
  toastError,
  type Tone,
} from "../../../shared/browser/index.ts";
import { ActionDialog } from "../parts/dialogs.tsx";
import { When } from "../parts/values.tsx";
import { t } from "../texts.ts";

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

export function RunTable({ rows }: { readonly rows: readonly Run[] }): JSX.Element {
  return (
    <Table
      label={t("runs")}
      rows={rows}
      keyOf={({ id }) => id}
      linkOf={({ agent_id, id }) => linkTo(["agents", agent_id, id])}
      columns={[
        {
          id: "trigger",
          label: t("columnTrigger"),
          cell: ({ trigger }) => <span class="nowrap">{triggerName(trigger.type)}</span>,
        },
        { id: "status", label: t("columnStatus"), cell: ({ status }) => <RunStatus of={status} /> },
        {
          id: "steps",
          label: t("columnSteps"),
          isNumeric: true,
          cell: ({ steps }) => number(steps.length),
        },
        {
          id: "tokens",
          label: t("columnTokens"),
          isNumeric: true,
          cell: ({ usage }) => number(usage.input_tokens + usage.output_tokens),
        },
        {
          id: "time",
          label: t("columnDuration"),
          isNumeric: true,
          cell: (run) => <span class="nowrap">{runTime(run) ?? "–"}</span>,
        },
        {
          id: "created",
          label: t("columnCreated"),
          isNumeric: true,
          cell: ({ created_at }) => <When at={created_at} />,
        },
      ]}
    />
  );
}

export const EnabledBadge = ({ enabled }: { readonly enabled: boolean }): JSX.Element => (
  <Badge tone={enabled ? "good" : "neutral"}>{t(enabled ? "enabled" : "disabled")}</Badge>
);

interface EnableButtonProps<Data> {
  readonly path: string;
  readonly resource: Resource<Data>;
  readonly enabled: boolean;
  /** What is said when it was enabled or disabled. */
  readonly said: { readonly on: string; readonly off: string };
}

/** Enables or disables an agent or a playbook. */
export function EnableButton<Data extends Agent | Playbook>(
  props: EnableButtonProps<Data>,
): JSX.Element | null {
  const { path, resource, enabled, said } = props;
  if (!may("agents:write")) return null;
  const toggle = async (): Promise<void> => {
    try {
      resource.set(await api.patch<Data>(path, { enabled: !enabled }));
      toast({ message: enabled ? said.off : said.on });
    } catch (failure) {
      toastError(failure);
    }
  };
  return (
    <Button icon={enabled ? "pause" : "play"} onClick={() => void toggle()}>
      {t(enabled ? "disable" : "enable")}
    </Button>
  );
}

interface EditButtonsProps {
  /** The path in the API. */
  readonly path: string;
  /** The place of the form. */
  readonly form: readonly string[];
  readonly name: string;
  /** What happens when it is deleted. */
  readonly hint: string;
  /** What is said when it was deleted. */
  readonly said: string;
}

/** Opens the form of an agent or a playbook, or deletes it. */
export function EditButtons(props: EditButtonsProps): JSX.Element | null {
  const { path, form, name, hint, said } = props;
  const [isOpen, setOpen] = useState(false);
  if (!may("agents:write")) return null;
  return (
    <>
      <Button icon="edit" onClick={() => go(linkTo(form))}>
        {t("edit")}
      </Button>
      <IconButton
        icon="trash"
        kind="secondary"
        label={t("deleteNamed", { name })}
        onClick={() => setOpen(true)}
      />
      {isOpen && (
        <ActionDialog
          title={t("deleteNamed", { name })}
          confirm={t("delete")}
          kind="danger"
          onClose={() => setOpen(false)}
          onConfirm={async () => {
            await api.delete(path);
            toast({ message: said });
            go(linkTo(["agents"]), true);
          }}
        >
          <p>{hint}</p>
        </ActionDialog>
      )}
    </>
  );
}
