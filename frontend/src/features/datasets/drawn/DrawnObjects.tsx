import { Button, Checkbox, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Annotations } from '@/api/contract/datasets';
import { colorOfLabel, labelCounts, type NamedObject } from '@/shared/domain/drawn/shapes';
import { useFormat } from '@/shared/ui/format';
import { Section } from '../item/Section';
import { useAttributeWords } from './attributeWords';
import { DrawnFacts } from './DrawnFacts';
import { DrawnSwitch } from './DrawnSwitch';
import classes from './drawnList.module.css';
import type { ItemDrawn } from './useItemDrawn';

/** The objects of the picture beside it: how many of each class, each by itself, and where they come from. */
export function DrawnObjects({ annotations, drawn }: { annotations: Annotations; drawn: ItemDrawn }) {
  const { t } = useTranslation();
  const objects = drawn.document?.objects ?? [];
  return (
    <Section title={t('drawn.title')}>
      <Stack gap="xs">
        {objects.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('drawn.nothing')}
          </Text>
        ) : (
          <>
            <Group justify="space-between">
              <Text size="sm">{t('drawn.count', { count: annotations.objects_total })}</Text>
              <DrawnSwitch />
            </Group>
            <Classes objects={objects} drawn={drawn} />
            <Rows objects={objects} drawn={drawn} />
          </>
        )}
        <DrawnFacts annotations={annotations} />
      </Stack>
    </Section>
  );
}

interface ListProps {
  objects: readonly NamedObject[];
  drawn: ItemDrawn;
}

/** Each class with its colour and count; its tick draws its objects. */
function Classes({ objects, drawn }: ListProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const counts = useMemo(() => labelCounts(objects), [objects]);
  return (
    <Stack gap={4} role="group" aria-label={t('drawn.classes')}>
      {counts.map(([label, count]) => (
        <Checkbox
          key={label}
          size="xs"
          color={colorOfLabel(label)}
          autoContrast
          checked={!drawn.hidden.has(label)}
          onChange={(event) => drawn.showLabel(label, event.currentTarget.checked)}
          label={
            <>
              {label}{' '}
              <Text span inherit c="dimmed" className="tabular">
                {format.number(count)}
              </Text>
            </>
          }
        />
      ))}
    </Stack>
  );
}

const STEP = 100;

/** The objects in their order; the one under the pointer or with the focus stands out on the picture. */
function Rows({ objects, drawn }: ListProps) {
  const { t } = useTranslation();
  const [limit, setLimit] = useState(STEP);
  const rest = objects.length - limit;
  return (
    <div className={classes.rows}>
      {objects.slice(0, limit).map((object, index) => (
        <Row key={object.id} object={object} number={index + 1} drawn={drawn} />
      ))}
      {rest > 0 && (
        <Button size="compact-xs" variant="subtle" onClick={() => setLimit(limit + STEP)}>
          {t('drawn.more', { number: Math.min(rest, STEP) })}
        </Button>
      )}
    </div>
  );
}

function Row({ object, number, drawn }: { object: NamedObject; number: number; drawn: ItemDrawn }) {
  const { t } = useTranslation();
  const wordsOf = useAttributeWords();
  const kind = t(`drawn.kind.${object.kind}` as 'drawn.kind.box', { defaultValue: object.kind });
  const words = [kind, object.text && `“${object.text}”`, ...wordsOf(object.attributes)];
  if (object.ignore) words.push(t('drawn.ignored'));
  const isActive = drawn.active === object.id;
  return (
    <UnstyledButton
      className={classes.row}
      data-active={isActive || undefined}
      onFocus={() => drawn.setActive(object.id)}
      onBlur={() => drawn.setActive(null)}
      onPointerEnter={() => drawn.setActive(object.id)}
      onPointerLeave={() => drawn.setActive(null)}
      onClick={() => drawn.setActive(object.id)}
    >
      <span className={classes.swatch} style={{ background: colorOfLabel(object.label) }} aria-hidden />
      {t('drawn.object', { label: object.label, number })}{' '}
      <Text span inherit c="dimmed">
        {words.filter(Boolean).join(' · ')}
      </Text>
    </UnstyledButton>
  );
}
