import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Sender } from "../../../../../src/index.ts";
import {
  ActionDialog,
  api,
  channelName,
  channels,
  Checkbox,
  newKey,
  shownAddress,
  TextField,
} from "../../../shared/browser/index.ts";
import { changedFields } from "../changed-fields.ts";
import { t } from "../texts.ts";
import { numberIn } from "../typed-number.ts";

type Channel = Sender["channels"][number];

/** The same channels in the order in which they are offered. */
const inOrder = (chosen: readonly Channel[]): readonly Channel[] =>
  channels.filter((channel) => chosen.includes(channel));

interface SenderDialogProps {
  /** The sender to change. Absent for a new one. */
  readonly sender?: Sender;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Adds or changes a sender. */
export function SenderDialog({ sender, onSaved, onClose }: SenderDialogProps): JSX.Element {
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
