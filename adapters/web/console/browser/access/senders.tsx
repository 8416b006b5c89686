import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Sender } from "../../../../../src/index.ts";
import {
  ActionDialog,
  api,
  Badge,
  Button,
  channelName,
  channels,
  Checkbox,
  EmptyState,
  Menu,
  newKey,
  number,
  shownAddress,
  Table,
  TextField,
  toast,
} from "../../../shared/browser/index.ts";
import { changedFields } from "../changed-fields.ts";
import { useReturn } from "../live.ts";
import { usePagedList } from "../paged.ts";
import { Card, Paged } from "../parts/layout.tsx";
import { t } from "../texts.ts";
import { numberIn } from "../typed-number.ts";

type Channel = Sender["channels"][number];

/** The same channels in the order in which they are offered. */
const inOrder = (chosen: readonly Channel[]): readonly Channel[] =>
  channels.filter((channel) => chosen.includes(channel));

type OpenDialog =
  { readonly kind: "create" } | { readonly kind: "edit" | "remove"; readonly sender: Sender };

/** The addresses that the account sends from and receives at. */
export function SendersTab(): JSX.Element {
  const [dialog, setDialog] = useState<OpenDialog>();
  const list = usePagedList<Sender>(
    (cursor, signal) => api.get("v1/senders", { query: { limit: 50, cursor }, signal }),
    [],
  );
  useReturn(() => void list.refresh());
  const close = (): void => setDialog(undefined);
  // The whole list is read again, since a new default takes the place of another one.
  const onSaved = (): void => {
    close();
    void list.reload();
  };
  return (
    <Card
      title={t("senders")}
      isFlush
      actions={
        <Button kind="primary" icon="plus" onClick={() => setDialog({ kind: "create" })}>
          {t("senderAdd")}
        </Button>
      }
    >
      <Paged
        list={list}
        empty={
          <EmptyState icon="send" title={t("sendersNone")}>
            {t("sendersNoneHint")}
          </EmptyState>
        }
      >
        {(rows) => <SenderTable rows={rows} onOpen={setDialog} />}
      </Paged>
      {dialog?.kind === "create" && <SenderDialog onClose={close} onSaved={onSaved} />}
      {dialog?.kind === "edit" && (
        <SenderDialog sender={dialog.sender} onClose={close} onSaved={onSaved} />
      )}
      {dialog?.kind === "remove" && (
        <ActionDialog
          title={t("senderRemoveTitle", { address: dialog.sender.address })}
          confirm={t("senderRemove")}
          kind="danger"
          onClose={close}
          onConfirm={async () => {
            await api.delete(`v1/senders/${dialog.sender.id}`);
            toast({ message: t("senderRemoved") });
            onSaved();
          }}
        >
          <p>{t("senderRemoveHint")}</p>
        </ActionDialog>
      )}
    </Card>
  );
}

interface SenderTableProps {
  readonly rows: readonly Sender[];
  readonly onOpen: (dialog: OpenDialog) => void;
}

function SenderTable({ rows, onOpen }: SenderTableProps): JSX.Element {
  return (
    <Table
      label={t("senders")}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          label: t("address"),
          cell: ({ address }) => (
            <bdi class="sender-address truncate strong">{shownAddress(address)}</bdi>
          ),
        },
        {
          label: t("channels"),
          cell: ({ channels: own, default_channels }) => (
            <span class="chips nowrap">
              {own.map((channel) => (
                <Badge
                  key={channel}
                  tone={default_channels.includes(channel) ? "accent" : "neutral"}
                  {...(default_channels.includes(channel) && { tip: t("senderDefaultTip") })}
                >
                  {channelName(channel)}
                </Badge>
              ))}
            </span>
          ),
        },
        { label: t("fieldTransport"), cell: ({ transport }) => <code>{transport}</code> },
        {
          label: t("senderPool"),
          cell: ({ pool }) => (pool ? t("yes") : <span class="muted">–</span>),
        },
        {
          label: t("senderRate"),
          cell: ({ messages_per_second, daily_cap }) => (
            <span class="nowrap">{limitOf(messages_per_second, daily_cap)}</span>
          ),
        },
        {
          label: t("columnActions"),
          isLabelHidden: true,
          isNumeric: true,
          cell: (sender) => (
            <Menu
              label={t("actionsOf", { name: sender.address })}
              items={[
                { label: t("edit"), icon: "edit", onPick: () => onOpen({ kind: "edit", sender }) },
                {
                  label: t("senderRemove"),
                  icon: "trash",
                  isDanger: true,
                  onPick: () => onOpen({ kind: "remove", sender }),
                },
              ]}
            />
          ),
        },
      ]}
    />
  );
}

/** The limits of a sender, in words. */
function limitOf(perSecond: number | null, perDay: number | null): string {
  const limits = [
    perSecond !== null && t("perSecond", { count: number(perSecond) }),
    perDay !== null && t("perDay", { count: number(perDay) }),
  ].filter(Boolean);
  return limits.length === 0 ? t("unlimited") : limits.join(", ");
}

interface SenderDialogProps {
  /** The sender to change. Absent for a new one. */
  readonly sender?: Sender;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

function SenderDialog({ sender, onSaved, onClose }: SenderDialogProps): JSX.Element {
  const [address, setAddress] = useState("");
  const [transport, setTransport] = useState("");
  const [chosen, setChosen] = useState<readonly Channel[]>(sender?.channels ?? ["sms"]);
  const [isDefault, setDefault] = useState(sender?.default ?? false);
  const [isPooled, setPooled] = useState(sender?.pool ?? false);
  const [rate, setRate] = useState(String(sender?.messages_per_second ?? ""));
  const [cap, setCap] = useState(String(sender?.daily_cap ?? ""));
  const fields = {
    channels: inOrder(chosen),
    default: isDefault,
    pool: isPooled,
    messages_per_second: numberIn(rate) ?? null,
    daily_cap: numberIn(cap) ?? null,
  };
  const body =
    sender === undefined
      ? { address, transport, ...fields }
      : changedFields({ ...sender, channels: inOrder(sender.channels) }, fields);
  const key = useMemo(newKey, [JSON.stringify(body)]);
  const save = async (): Promise<void> => {
    await (sender === undefined
      ? api.post("v1/senders", body, { key })
      : api.patch(`v1/senders/${sender.id}`, body, { key }));
    onSaved();
  };
  return (
    <ActionDialog
      title={sender === undefined ? t("senderAdd") : shownAddress(sender.address)}
      confirm={t(sender === undefined ? "add" : "save")}
      canConfirm={
        chosen.length > 0 && (sender !== undefined || (address !== "" && transport !== ""))
      }
      onClose={onClose}
      onConfirm={save}
    >
      {(problemOf) => (
        <>
          {sender === undefined && (
            <>
              <TextField
                label={t("address")}
                placeholder="+15005559998"
                hint={t("senderAddressHint")}
                problem={problemOf("/address")}
                value={address}
                onChange={setAddress}
              />
              <TextField
                label={t("fieldTransport")}
                placeholder="sandbox"
                hint={t("senderTransportHint")}
                problem={problemOf("/transport")}
                value={transport}
                onChange={setTransport}
              />
            </>
          )}
          <fieldset class="choice-grid">
            <legend class="field-label">{t("channels")}</legend>
            {channels.map((channel) => (
              <Checkbox
                key={channel}
                label={channelName(channel)}
                checked={chosen.includes(channel)}
                onChange={(isChecked) =>
                  setChosen(
                    isChecked ? [...chosen, channel] : chosen.filter((each) => each !== channel),
                  )
                }
              />
            ))}
          </fieldset>
          <Checkbox label={t("senderDefault")} checked={isDefault} onChange={setDefault} />
          <Checkbox label={t("senderPoolHint")} checked={isPooled} onChange={setPooled} />
          <div class="form-row">
            <TextField
              label={t("senderPerSecond")}
              inputMode="decimal"
              placeholder={t("unlimited")}
              problem={problemOf("/messages_per_second")}
              value={rate}
              onChange={setRate}
            />
            <TextField
              label={t("senderPerDay")}
              inputMode="numeric"
              placeholder={t("unlimited")}
              problem={problemOf("/daily_cap")}
              value={cap}
              onChange={setCap}
            />
          </div>
        </>
      )}
    </ActionDialog>
  );
}
