import { Alert, Button, Group, Radio, ScrollArea, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { PreviewConflict, Take } from '@/api/contract/datasets';
import { Thumb } from '@/shared/grid/Thumb';
import { visible } from '@/shared/ui/visible';
import { layerWords } from '../versions/layerWords';
import { attributeSides } from './conflicts';
import classes from './conflicts.module.css';
import { countSettled, keyOf, sideOf } from './settling';
import type { DialogSettling } from './useSettling';

interface ConflictsProps {
  conflicts: DialogSettling;
  branch: string;
  source: string;
}

/** The conflicts, if there are any: the person chooses whose side counts for each, or for all. */
export function Conflicts({ conflicts, branch, source }: ConflictsProps) {
  const { t } = useTranslation();
  const { found, settling, settle } = conflicts;
  if (!found?.conflicts_total) return null;
  const total = found.conflicts_total;
  const all = settling.on_conflict;
  const names = { ours: t('versioning.ours', { branch }), theirs: t('versioning.theirs', { source }) };
  const choose = (key: string, side: Take) => settle({ ...settling, sides: { ...settling.sides, [key]: side } });
  return (
    <Alert
      color="orange"
      icon={<IconAlertTriangle size={18} />}
      title={t('versioning.conflicts', { count: total })}
      py="xs"
    >
      <Stack gap="xs">
        <Group gap="xs" role="group" aria-label={t('versioning.side')}>
          <Text size="sm">{t('versioning.side')}</Text>
          {(['ours', 'theirs'] as const).map((side) => (
            <Button
              key={side}
              size="compact-sm"
              variant={all === side ? 'filled' : 'default'}
              aria-pressed={all === side}
              onClick={() => settle({ on_conflict: side, sides: {} })}
            >
              {names[side]}
            </Button>
          ))}
        </Group>
        <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, 'aria-label': t('versioning.conflictsList') }}>
          <Stack gap={6}>
            {found.conflicts.map((conflict) => {
              const key = keyOf(conflict);
              return (
                <ConflictRow
                  key={`${key} ${conflict.other_path}`}
                  conflict={conflict}
                  side={sideOf(settling, conflict)}
                  onChange={(side) => choose(key, side)}
                />
              );
            })}
          </Stack>
        </ScrollArea.Autosize>
        <Hidden count={total - found.conflicts.length} side={all === 'fail' ? undefined : names[all]} />
        <Text size="sm" role="status">
          {t('versioning.settled', { done: countSettled(settling, found), count: total })}
        </Text>
      </Stack>
    </Alert>
  );
}

/** The fate of the conflicts that are too many to show. */
function Hidden({ count, side }: { count: number; side: string | undefined }) {
  const { t } = useTranslation();
  if (count <= 0) return null;
  return (
    <Text size="sm">
      {side ? t('versioning.hiddenFollow', { count, side }) : t('versioning.hiddenConflicts', { count })}
    </Text>
  );
}

interface ConflictRowProps {
  conflict: PreviewConflict;
  side: Take | undefined;
  onChange: (side: Take) => void;
}

function ConflictRow({ conflict, side, onChange }: ConflictRowProps) {
  const { t } = useTranslation();
  const { path, layer, field, our_thumb_url, their_thumb_url } = conflict;
  const ofFile = { attributes: t('versioning.attributesOnly'), media_type: t('versioning.mediaTypeOnly') };
  const what = layer ? [layerWords(layer, t), field].filter(Boolean).join(' · ') : ofFile[field as keyof typeof ofFile];
  const said = useSides(conflict);
  const sides = [
    { value: 'ours', label: t('versioning.here'), said: said.ours, picture: our_thumb_url },
    { value: 'theirs', label: t('versioning.there'), said: said.theirs, picture: their_thumb_url },
  ];
  return (
    <Radio.Group
      label={visible([path, what].filter(Boolean).join(' '))}
      value={side ?? null}
      onChange={(next) => onChange(next as Take)}
      size="xs"
      classNames={{ label: classes.path }}
    >
      <div className={classes.sides}>
        {sides.map(({ value, label, said, picture }) => (
          <Group key={value} gap="xs" wrap="nowrap" align="flex-start" className={classes.side}>
            <Radio size="xs" value={value} label={label} description={said} />
            {picture && (
              <span className={classes.picture}>
                <Thumb src={picture} />
              </span>
            )}
          </Group>
        ))}
      </div>
    </Radio.Group>
  );
}

/** A label is told by what it says, a file by what happened to it, one of the same bytes by the attributes that differ. */
function useSides(conflict: PreviewConflict): Record<Take, string> {
  const { t } = useTranslation();
  const { layer, field, ours, theirs, our_value, their_value, other_path } = conflict;
  const words = { added: t('versioning.added'), changed: t('versioning.changed'), removed: t('versioning.removed') };
  const none = t('versioning.none');
  if (!layer && field === 'attributes') {
    const sides = attributeSides(our_value, their_value);
    const told = (side: Take) => sides.map((each) => `${each.name}: ${each[side] ?? none}`).join(', ');
    return { ours: told('ours'), theirs: told('theirs') };
  }
  if (field) return { ours: our_value || none, theirs: their_value || none };
  return { ours: other_path ? `${words[ours]}: ${visible(other_path)}` : words[ours], theirs: words[theirs] };
}
