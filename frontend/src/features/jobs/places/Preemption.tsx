import { useTranslation } from 'react-i18next';

interface PreemptionProps {
  /** PriorityClasses whose pods may take the run's room; null if unknown. */
  classes: readonly string[] | null;
}

/** Says who may preempt a run in a place. */
export function Preemption({ classes }: PreemptionProps) {
  const { t, i18n } = useTranslation();
  if (classes === null) return t('places.preemptionUnknown');
  if (classes.length === 0) return t('places.neverPreempted');
  const lists = new Intl.ListFormat(i18n.language, { style: 'narrow', type: 'conjunction' });
  return t('places.preemptedBy', { classes: lists.format(classes) });
}
