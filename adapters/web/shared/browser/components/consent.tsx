/** What a contact consents to, and how a person records a change. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Consent } from "../../../../../src/index.ts";
import { api } from "../connection/http.ts";
import { shownAddress } from "../texts/formats.ts";
import { text } from "../texts/shared-texts.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { Badge, type Tone } from "./badge.tsx";
import { TextField } from "./field.tsx";

type Status = Consent["status"];

export const consentTones: { readonly [status in Status]: Tone } = {
  opted_in: "good",
  opted_out: "bad",
  unknown: "neutral",
};

export const consentName = (status: Status): string =>
  ({
    opted_in: text("consentIn"),
    opted_out: text("consentOut"),
    unknown: text("consentUnknown"),
  })[status];

export const ConsentBadge = ({ status }: { readonly status: Status }): JSX.Element => (
  <Badge tone={consentTones[status]}>{consentName(status)}</Badge>
);

/** What a person can change about a consent. */
export const consentChange = ({ status }: Consent): string =>
  text(status === "opted_out" ? "consentOptIn" : "consentOptOut");

interface ConsentDialogProps {
  readonly contactId: string;
  readonly consent: Consent;
  /** Called after a change. */
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Opts an address out, or in again, which needs evidence: the person has said the opposite. */
export function ConsentDialog(props: ConsentDialogProps): JSX.Element {
  const { contactId, consent, onDone, onClose } = props;
  const [detail, setDetail] = useState("");
  const isOptIn = consent.status === "opted_out";
  const given = detail.trim();
  return (
    <ActionDialog
      title={`${consentChange(consent)}: ${shownAddress(consent.address)}`}
      confirm={consentChange(consent)}
      kind={isOptIn ? "primary" : "danger"}
      canConfirm={!isOptIn || given !== ""}
      onClose={onClose}
      onConfirm={async () => {
        await api.put(`v1/contacts/${encodeURIComponent(contactId)}/consents/${consent.medium}`, {
          status: isOptIn ? "opted_in" : "opted_out",
          ...(given !== "" && { detail: given }),
        });
        onClose();
        onDone();
      }}
    >
      {(problemOf) => (
        <>
          <p>{text(isOptIn ? "consentInHint" : "consentOutHint")}</p>
          <TextField
            label={text("consentDetail")}
            hint={text("consentDetailHint")}
            isOptional={!isOptIn}
            maxLength={500}
            problem={problemOf("/detail")}
            value={detail}
            onChange={setDetail}
          />
        </>
      )}
    </ActionDialog>
  );
}
