/** The times that are offered for a snooze or a later sending. */
import { t } from "../texts.ts";

interface TimeChoice {
  readonly id: string;
  readonly label: string;
  readonly at: Date;
}

const morning = 9;

/** The choices at the time `now`. */
export function timeChoices(now: Date): readonly TimeChoice[] {
  const tomorrow = at(now, 1);
  const monday = at(now, (8 - now.getDay()) % 7 || 7);
  const choices = [
    { id: "hour", label: t("snoozeHour"), at: new Date(now.getTime() + 3_600_000) },
    { id: "three", label: t("snoozeThreeHours"), at: new Date(now.getTime() + 10_800_000) },
    { id: "tomorrow", label: t("snoozeTomorrow"), at: tomorrow },
    { id: "monday", label: t("snoozeMonday"), at: monday },
    { id: "week", label: t("snoozeWeek"), at: at(now, 7) },
  ];
  // On a Sunday, tomorrow is Monday; on a Monday, Monday is in one week.
  return choices.filter(
    (each, index) =>
      choices.findIndex((other) => other.at.getTime() === each.at.getTime()) === index,
  );
}

/** The morning of a day after `now`. */
function at(now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, morning);
}
