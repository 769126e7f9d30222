import { ActionIcon, Group, Text, UnstyledButton } from '@mantine/core';
import {
  IconArrowDown,
  IconArrowUp,
  IconEye,
  IconEyeOff,
  IconLock,
  IconLockOpen,
  IconMessage,
  IconTrash,
} from '@tabler/icons-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useBigVirtual } from '@/shared/grid/useBigVirtual';
import { objectsOf } from '../canvas/model';
import tiles from '../tiles.module.css';
import { type Editing, selectedObjects } from './editing';
import classes from './objects.module.css';
import type { AnnotationObject, OntologyLabel } from './types';

const ROW_HEIGHT = 32;
const HEIGHT = 256;

interface ObjectListProps {
  editing: Editing;
  labels: ReadonlyMap<number, OntologyLabel>;
  /** Objects that an auditor pointed at. */
  withIssue: ReadonlySet<string>;
}

/** The objects of the picture, the topmost first. */
export function ObjectList({ editing, labels, withIssue }: ObjectListProps) {
  const { t } = useTranslation();
  const { document, readOnly } = editing;
  const objects = objectsOf(document).toReversed();
  const big = useBigVirtual(objects.length, ROW_HEIGHT);
  const one = selectedObjects(editing)[0];
  const at = one ? objects.indexOf(one) : -1;
  const { scrollToIndex } = big;
  useEffect(() => {
    if (at >= 0) scrollToIndex(at, 'nearest');
  }, [at, scrollToIndex]);
  return (
    <section aria-label={t('labeling.objects.list')}>
      <Group justify="space-between" mb={4}>
        <Text size="xs" c="dimmed" fw={600}>
          {t('labeling.objects.count', { count: objects.length })}
        </Text>
        {one && !readOnly && (
          <Group gap={2}>
            <ActionIcon
              size="sm"
              aria-label={t('labeling.objects.forward')}
              onClick={() => editing.do({ type: 'order', ids: editing.selected, to: 'forward' })}
            >
              <IconArrowUp size={14} />
            </ActionIcon>
            <ActionIcon
              size="sm"
              aria-label={t('labeling.objects.backward')}
              onClick={() => editing.do({ type: 'order', ids: editing.selected, to: 'backward' })}
            >
              <IconArrowDown size={14} />
            </ActionIcon>
            <ActionIcon
              size="sm"
              aria-label={t('labeling.objects.delete')}
              onClick={() => editing.do({ type: 'delete', ids: editing.selected })}
            >
              <IconTrash size={14} />
            </ActionIcon>
          </Group>
        )}
      </Group>
      {objects.length === 0 && (
        <Text size="xs" c="dimmed">
          {t('labeling.objects.empty')}
        </Text>
      )}
      <div ref={big.ref} className={classes.objects} style={{ height: Math.min(HEIGHT, objects.length * ROW_HEIGHT) }}>
        <div style={{ height: big.contentHeight }}>
          <ul className={classes.viewport} style={{ height: big.viewportHeight }}>
            {big.rows.map(({ index, y }) => {
              const object = objects[index];
              if (!object) return null;
              return (
                <li key={object.id} className={classes.objectRow} style={{ top: y, height: ROW_HEIGHT }}>
                  <ObjectRow
                    object={object}
                    number={objects.length - index}
                    label={labels.get(object.label)}
                    editing={editing}
                    hasIssue={withIssue.has(object.id)}
                  />
                </li>
              );
            })}
          </ul>
        </div>
      </div>
    </section>
  );
}

interface ObjectRowProps {
  object: AnnotationObject;
  number: number;
  label: OntologyLabel | undefined;
  editing: Editing;
  hasIssue: boolean;
}

function ObjectRow({ object, number, label, editing, hasIssue }: ObjectRowProps) {
  const { t } = useTranslation();
  const name = t('labeling.objects.name', { label: label?.name ?? object.label, number });
  const isHidden = editing.hidden.includes(object.id);
  const isLocked = editing.locked.includes(object.id);
  const isSelected = editing.selected.includes(object.id);
  return (
    <div className={classes.row} data-selected={isSelected || undefined} data-hidden={isHidden || undefined}>
      <UnstyledButton
        className={classes.rowName}
        aria-pressed={isSelected}
        onClick={(event) => {
          const isAdded = event.shiftKey || event.ctrlKey || event.metaKey;
          editing.do({ type: 'select', ids: [object.id], how: isAdded ? 'toggle' : 'only' });
        }}
      >
        <span className={tiles.swatch} style={{ background: label?.color }} aria-hidden />
        {name}
        {object.ignore && (
          <Text span size="xs" c="dimmed">
            {t('labeling.objects.ignored')}
          </Text>
        )}
        {hasIssue && <IconMessage size={14} role="img" aria-label={t('labeling.objects.hasIssue')} />}
      </UnstyledButton>
      <ActionIcon
        size="sm"
        aria-pressed={isHidden}
        aria-label={t('labeling.objects.hide', { name })}
        onClick={() => editing.do({ type: 'hide', ids: [object.id], hidden: !isHidden })}
      >
        {isHidden ? <IconEyeOff size={14} /> : <IconEye size={14} />}
      </ActionIcon>
      <ActionIcon
        size="sm"
        aria-pressed={isLocked}
        aria-label={t('labeling.objects.lock', { name })}
        onClick={() => editing.do({ type: 'lock', ids: [object.id], locked: !isLocked })}
      >
        {isLocked ? <IconLock size={14} /> : <IconLockOpen size={14} />}
      </ActionIcon>
    </div>
  );
}
