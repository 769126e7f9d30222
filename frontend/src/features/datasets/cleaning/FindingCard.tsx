import { Badge, Group, Text, UnstyledButton } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import type { MouseEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Finding, FindingKind } from '@/api/contract/datasets';
import { Thumb } from '@/shared/grid/Thumb';
import { useFormat } from '@/shared/ui/format';
import { visible } from '@/shared/ui/visible';
import { baseName } from '../names';
import classes from './cleaning.module.css';

interface FindingCardProps {
  finding: Finding;
  kind: FindingKind;
  index: number;
  selected: boolean;
  /** With Shift held, up to here. */
  onPick: (index: number, extend: boolean) => void;
}

/** One finding with what tells it from its neighbours: a button that selects it. */
export function FindingCard({ finding, kind, index, selected, onPick }: FindingCardProps) {
  const { t } = useTranslation();
  const { entry, stays, path } = finding;
  const said = useSaid(finding, kind);
  const facts = useFacts(finding);
  // A click by Space or Enter carries the modifier as one by mouse does.
  const pick = (event: MouseEvent) => onPick(index, event.shiftKey);
  return (
    <UnstyledButton
      className={classes.finding}
      aria-pressed={selected}
      data-finding={index}
      title={visible(path)}
      onClick={pick}
    >
      <span className={classes.picture}>
        <Thumb src={entry?.thumb_url} />
        {selected && (
          <span className={classes.tick} aria-hidden>
            <IconCheck size={14} stroke={3} />
          </span>
        )}
      </span>
      <span className={classes.words}>
        <Group gap={4} component="span">
          {stays && (
            <Badge size="xs" color="teal" component="span">
              {t('cleaning.stays')}
            </Badge>
          )}
          {entry?.split && (
            <Badge size="xs" color="gray" component="span">
              {entry.split}
            </Badge>
          )}
          {entry?.label && (
            <Badge size="xs" color="gray" component="span">
              {entry.label}
            </Badge>
          )}
        </Group>
        <Text size="xs" component="span" truncate display="block">
          {visible(baseName(path))}
        </Text>
        <Text size="xs" c="dimmed" component="span" display="block">
          {[said, facts].filter(Boolean).join(' · ')}
        </Text>
      </span>
    </UnstyledButton>
  );
}

/** The measure, in the words of the kind. */
function useSaid({ value, reason, stays }: Finding, kind: FindingKind): string {
  const { t } = useTranslation();
  const format = useFormat();
  if (stays || kind === 'tiny') return '';
  if (kind === 'unreadable' || kind === 'too_large') return reason ?? '';
  if (kind === 'exact_duplicate') return t('cleaning.sameBytes');
  if (kind === 'dark') return t('cleaning.brightness', { value: format.percent(value) });
  if (kind === 'blurred') return t('cleaning.sharpness', { value: format.number(Math.round(value * 10) / 10) });
  return value === 0 ? '' : t('cleaning.bits', { count: value });
}

function useFacts({ width, height, entry }: Finding): string {
  const format = useFormat();
  const size = width ? `${format.number(width)} × ${format.number(height ?? 0)}` : '';
  return [size, entry && format.bytes(entry.size_bytes)].filter(Boolean).join(' · ');
}
