import type { JSX } from "preact";
import type { Sender } from "../../../../../src/index.ts";
import {
  ActionDialog,
  api,
  Badge,
  Button,
  channelName,
  EmptyState,
  Menu,
  number,
  shownAddress,
  toast,
  useOpened,
} from "../../../shared/browser/index.ts";
import { useReturn } from "../live.ts";
import { usePagedList } from "../paged.ts";
import { Card, Paged } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";
import { NoValue } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { SenderDialog } from "./sender-dialog.tsx";

type OpenDialog =
  { readonly kind: "create" } | { readonly kind: "edit" | "remove"; readonly sender: Sender };

/** The addresses that the account sends from and receives at. */
export function SendersTab(): JSX.Element {
  const [dialog, setDialog, close] = useOpened<OpenDialog>();
  const list = usePagedList<Sender>(
    (cursor, signal) => api.get("v1/senders", { query: { limit: 50, cursor }, signal }),
    [],
  );
  useReturn(() => void list.refresh());
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
          onConfirm={async (key) => {
            await api.delete(`v1/senders/${dialog.sender.id}`, { key });
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
          cell: ({ pool }) => (pool ? t("yes") : <NoValue />),
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
