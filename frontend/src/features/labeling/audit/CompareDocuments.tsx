import { Group, SegmentedControl, SimpleGrid, Skeleton, Text } from '@mantine/core';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Correction, LabelTask } from '@/api/contract/labeling';
import { ErrorState } from '@/shared/ui/ErrorState';
import { CanvasView } from '../canvas/CanvasView';
import type { DocumentV2 } from '../canvas/model';
import { asDocument } from '../objects/documents';
import { ImageCache } from '../objects/imageCache';
import { ontologyOfTask } from '../objects/ontology';
import { usePicture } from '../objects/usePicture';
import { useRevisions } from '../queries';
import { differencesOf } from './compare';

const VIEWS = ['both', 'before', 'after'] as const;

/** A person's work and what the auditor made of it: side by side, or one in the place of the other. */
export default function CompareDocuments({ task, correction }: { task: LabelTask; correction: Correction }) {
  const { t } = useTranslation();
  const [view, setView] = useState<(typeof VIEWS)[number]>('both');
  const [images] = useState(() => new ImageCache());
  useEffect(() => () => images.clear(), [images]);
  const image = usePicture(images, correction.media_url, []);
  const ontology = useMemo(() => ontologyOfTask(task), [task]);
  const revisions = useRevisions(correction.item_id);
  if (revisions.error) return <ErrorState error={revisions.error} onRetry={() => void revisions.refetch()} />;
  if (!revisions.data) return <Skeleton height={400} aria-busy />;
  const documentOf = (id: string) => asDocument(revisions.data.results.find((one) => one.id === id)?.document);
  const [before, after] = [documentOf(correction.revision), documentOf(correction.correction)];
  if (!before || !after) return <Text size="sm">{t('labeling.objects.compare.missing')}</Text>;
  const sides = { before, after };
  const shown = view === 'both' ? (['before', 'after'] as const) : [view];
  const bitmap = image.state === 'ready' ? image.bitmap : null;
  return (
    <>
      <Group justify="space-between" mb="sm">
        <SegmentedControl
          size="xs"
          aria-label={t('labeling.objects.compare.view')}
          data={VIEWS.map((value) => ({ value, label: t(`labeling.objects.compare.${value}`) }))}
          value={view}
          onChange={(next) => setView(next as (typeof VIEWS)[number])}
        />
        <Text size="xs" c="dimmed">
          {t('labeling.objects.compare.differences', { ...differencesOf(before, after) })}
        </Text>
      </Group>
      <SimpleGrid cols={{ base: 1, sm: shown.length }}>
        {shown.map((side) => (
          <Side key={side} name={t(`labeling.objects.compare.${side}`)} document={sides[side]}>
            <CanvasView
              document={sides[side]}
              ontology={ontology}
              image={bitmap}
              activeLabel={null}
              activeTool="select"
              readOnly
            />
          </Side>
        ))}
      </SimpleGrid>
      <Text size="sm" mt="sm" style={{ overflowWrap: 'anywhere' }}>
        {[correction.auditor, correction.comment].filter(Boolean).join(': ')}
      </Text>
    </>
  );
}

function Side({ name, document, children }: { name: string; document: DocumentV2; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <section aria-label={name}>
      <Text size="xs" fw={600} mb={4}>
        {`${name} · ${t('labeling.objects.count', { count: document.objects?.length ?? 0 })}`}
      </Text>
      <div style={{ position: 'relative', height: '60vh' }}>{children}</div>
    </section>
  );
}
