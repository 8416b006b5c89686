import type { JSX } from "preact";
import { consentName, date, Select, TextField } from "../../../shared/browser/index.ts";
import { startOf, type ContactQuery } from "../state/contact-query.ts";
import { labelsOfContacts } from "../state/known-labels.ts";
import { t } from "../texts.ts";
import { LabelFilter, type ActiveFilter, type ChangePlace } from "./filters.tsx";

/** The active filters of the list of contacts. */
export function contactFilters(query: ContactQuery): readonly ActiveFilter[] {
  const { label, optedOut, from, until } = query;
  const filters = [
    label && { parameter: "label", label: t("filterIs", { name: t("filterLabel"), value: label }) },
    optedOut !== undefined && {
      parameter: "opted_out",
      label: optedOut ? consentName("opted_out") : t("filterNotOut"),
    },
    from && { parameter: "from", label: t("filterFromDay", { time: date(startOf(from)) }) },
    until && { parameter: "until", label: t("filterUntilDay", { time: date(startOf(until)) }) },
  ];
  return filters.filter((each) => typeof each === "object");
}

interface FieldsProps {
  readonly query: ContactQuery;
  readonly onChange: ChangePlace;
}

/** The fields of these filters. */
export function ContactFilterFields({ query, onChange }: FieldsProps): JSX.Element {
  const { label, optedOut, from, until } = query;
  return (
    <>
      <LabelFilter
        value={label}
        known={labelsOfContacts()}
        onChange={(next) => onChange({ label: next })}
      />
      <Select
        label={t("filterConsent")}
        value={optedOut === undefined ? "" : String(optedOut)}
        options={[
          { value: "", label: t("filterAny") },
          { value: "false", label: t("filterNotOut") },
          { value: "true", label: consentName("opted_out") },
        ]}
        onChange={(value) => onChange({ opted_out: value })}
      />
      <div class="filter-days">
        <TextField
          label={t("filterFrom")}
          type="date"
          max={until}
          value={from ?? ""}
          onCommit={(day) => onChange({ from: day })}
        />
        <TextField
          label={t("filterUntil")}
          type="date"
          min={from}
          value={until ?? ""}
          onCommit={(day) => onChange({ until: day })}
        />
      </div>
    </>
  );
}
