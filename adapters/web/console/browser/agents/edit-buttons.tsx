/** Whether an agent or a playbook is enabled, and the buttons that change it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Agent, Playbook } from "../../../../../src/index.ts";
import {
  ActionDialog,
  api,
  Badge,
  Button,
  go,
  goFromHere,
  IconButton,
  linkTo,
  may,
  toast,
  useAction,
  type Resource,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

export const EnabledBadge = ({ enabled }: { readonly enabled: boolean }): JSX.Element => (
  <Badge tone={enabled ? "good" : "neutral"}>{t(enabled ? "enabled" : "disabled")}</Badge>
);

interface EnableButtonProps<Data> {
  /** The path in the API. */
  readonly path: string;
  readonly resource: Resource<Data>;
  readonly enabled: boolean;
  /** What the toast says after the agent or playbook was enabled, or after it was disabled. */
  readonly messages: { readonly enabled: string; readonly disabled: string };
}

/** Enables or disables an agent or a playbook. */
export function EnableButton<Data extends Agent | Playbook>(
  props: EnableButtonProps<Data>,
): JSX.Element | null {
  const { path, resource, enabled, messages } = props;
  const toggle = useAction(async () => {
    resource.set(await api.patch<Data>(path, { enabled: !enabled }));
    toast({ message: enabled ? messages.disabled : messages.enabled });
  });
  if (!may("agents:write")) return null;
  return (
    <Button icon={enabled ? "pause" : "play"} {...toggle}>
      {t(enabled ? "disable" : "enable")}
    </Button>
  );
}

interface EditButtonsProps {
  /** The path in the API. */
  readonly path: string;
  /** The place of the form in the console. */
  readonly form: readonly string[];
  readonly name: string;
  /** What happens when it is deleted. */
  readonly deleteHint: string;
  /** What the toast says after the agent or playbook was deleted. */
  readonly deletedMessage: string;
}

/** Opens the form of an agent or a playbook, or deletes it. */
export function EditButtons(props: EditButtonsProps): JSX.Element | null {
  const { path, form, name, deleteHint, deletedMessage } = props;
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
          onConfirm={async (key) => {
            const leave = goFromHere();
            await api.delete(path, { key });
            toast({ message: deletedMessage });
            leave(linkTo(["agents"]), true);
          }}
        >
          <p>{deleteHint}</p>
        </ActionDialog>
      )}
    </>
  );
}
