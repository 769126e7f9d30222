import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Version } from '@/api/contract/datasets';
import { AnchorLink } from '@/shared/links';

type Json = Record<string, unknown>;

const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

/** Where a version's files came from, in words: clients write it, so nothing of it is sure. */
export function Origin({ provenance }: Pick<Version, 'provenance'>) {
  const given = object(provenance);
  if (given.kind === 'import' && text(object(given.import).source)) return <Imported given={object(given.import)} />;
  // `write` is what a run's writer made, `run` what a run pushed.
  if ((given.kind === 'run' || given.kind === 'write') && text(given.run)) return <Made given={given} />;
  return null;
}

function Imported({ given }: { given: Json }) {
  const { t } = useTranslation();
  const counts = object(given.counts);
  const said = [
    t('datasets.originImport', { source: text(given.source), format: text(given.importer) }),
    t('datasets.matching', { count: count(counts.files) }),
    count(counts.objects) > 0 && t('datasets.originObjects', { count: count(counts.objects) }),
    count(counts.skipped) > 0 && t('datasets.originSkipped', { count: count(counts.skipped) }),
  ];
  return (
    <Text span display="block" size="sm" c="dimmed">
      {said.filter(Boolean).join(' · ')}
    </Text>
  );
}

function Made({ given }: { given: Json }) {
  const { t } = useTranslation();
  const counts = object(given.counts);
  const inputs = Array.isArray(given.inputs) ? given.inputs.map(text).filter(Boolean) : [];
  return (
    <Text span display="block" size="sm" c="dimmed">
      <AnchorLink to="/runs/$runId" params={{ runId: text(given.run) }} fz="inherit" underline="always">
        {t('datasets.originRun')}
      </AnchorLink>
      {inputs.length > 0 && <> · {t('datasets.originInputs', { names: inputs.join(', ') })}</>}
      {count(counts.broken) > 0 && <> · {t('datasets.originBroken', { count: count(counts.broken) })}</>}
    </Text>
  );
}
