import { VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Entry } from '@/api/contract/datasets';
import { useFormat } from '@/shared/ui/format';
import classes from './drawnList.module.css';

/** How many objects a picture has; zero where somebody looked and drew nothing. */
export function ObjectsBadge({ annotations }: Pick<Entry, 'annotations'>) {
  const { t } = useTranslation();
  const format = useFormat();
  if (!annotations) return null;
  const words = t('drawn.count', { count: annotations.objects_total });
  return (
    <span className={classes.badge} title={words}>
      <span aria-hidden>{format.number(annotations.objects_total)}</span>
      <VisuallyHidden>{words}</VisuallyHidden>
    </span>
  );
}
