import { Button, Group, Pill, Select, Stack, TagsInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Skeleton } from '../objects/types';
import { withPoints } from './ontologyDraft';

interface SkeletonEditorProps {
  owner: string;
  skeleton: Skeleton | null;
  error: string | undefined;
  onChange: (skeleton: Skeleton | null) => void;
}

type Pairs = 'edges' | 'flips';

/** The points of a skeleton in their order, the lines between them, and which are each other's mirror. */
export function SkeletonEditor({ owner, skeleton, error, onChange }: SkeletonEditorProps) {
  const { t } = useTranslation();
  const names = skeleton?.points.map(({ name }) => name) ?? [];
  return (
    <Stack gap={6} role="group" aria-label={t('labeling.ontology.skeletonOf', { name: owner })}>
      <TagsInput
        size="xs"
        label={t('labeling.ontology.points')}
        description={t('labeling.ontology.pointsHint')}
        splitChars={[',', '，', '、']}
        value={names}
        error={error}
        onChange={(next) => onChange(withPoints(skeleton, next))}
      />
      {skeleton &&
        (['edges', 'flips'] as const).map((pairs) => (
          <PairsEditor key={pairs} pairs={pairs} skeleton={skeleton} onChange={onChange} />
        ))}
    </Stack>
  );
}

interface PairsEditorProps {
  pairs: Pairs;
  skeleton: Skeleton;
  onChange: (skeleton: Skeleton) => void;
}

function PairsEditor({ pairs, skeleton, onChange }: PairsEditorProps) {
  const { t } = useTranslation();
  const [from, setFrom] = useState<string | null>(null);
  const [to, setTo] = useState<string | null>(null);
  const list = skeleton[pairs] ?? [];
  const nameOf = (index: number) => skeleton.points[index]?.name ?? '';
  const data = skeleton.points.map(({ name }, index) => ({ value: String(index), label: name }));
  const isSame = ([one, other]: readonly [number, number]) =>
    (one === Number(from) && other === Number(to)) || (one === Number(to) && other === Number(from));
  const canAdd = from !== null && to !== null && from !== to && !list.some(isSame);
  const words = t(`labeling.ontology.${pairs}`);
  return (
    <Stack gap={4} role="group" aria-label={words}>
      <Group gap={4} align="flex-end">
        <Select size="xs" w={120} label={words} data={data} value={from} onChange={setFrom} />
        <Select
          size="xs"
          w={120}
          aria-label={t('labeling.ontology.pairEnd', { name: words })}
          data={data}
          value={to}
          onChange={setTo}
        />
        <Button
          size="xs"
          variant="default"
          disabled={!canAdd}
          onClick={() => {
            onChange({ ...skeleton, [pairs]: [...list, [Number(from), Number(to)]] });
            // The next line mostly begins where this one ends.
            setFrom(to);
            setTo(null);
          }}
        >
          {t('labeling.ontology.connect')}
        </Button>
      </Group>
      <Group gap={4}>
        {list.map(([one, other], index) => (
          <Pill
            key={`${one}-${other}`}
            withRemoveButton
            removeButtonProps={{
              'aria-hidden': false,
              tabIndex: 0,
              'aria-label': t('labeling.create.removeLabel', { name: `${nameOf(one)} – ${nameOf(other)}` }),
            }}
            onRemove={() => onChange({ ...skeleton, [pairs]: list.filter((_, at) => at !== index) })}
          >
            {`${nameOf(one)} – ${nameOf(other)}`}
          </Pill>
        ))}
      </Group>
    </Stack>
  );
}
