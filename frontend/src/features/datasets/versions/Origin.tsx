import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Version } from '@/api/contract/datasets';
import { CopyIcon, shortId } from '@/shared/ui/CopyId';
import { AnchorLink } from '@/shared/ui/links';

type Json = Record<string, unknown>;

const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const count = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

/** Where a version's files came from, in words. All but `made_by` clients write, so nothing of that is sure. */
export function Origin({ provenance }: Pick<Version, 'provenance'>) {
  const given = object(provenance);
  if (given.kind === 'import' && text(object(given.import).source))
    return <Imported given={object(given.import)} maker={object(given.made_by)} />;
  const maker = object(given.made_by);
  if (text(maker.run)) return <Made given={given} maker={maker} />;
  // Versions from before the server's own record have these kinds: `write` for a run's writer, `run` for a push of a
  // run.
  if ((given.kind === 'run' || given.kind === 'write') && text(given.run))
    return <Made given={given} maker={{ run: given.run }} />;
  return null;
}

function Imported({ given, maker }: { given: Json; maker: Json }) {
  const { t } = useTranslation();
  const counts = object(given.counts);
  const lost = count(counts.lost_objects) + count(counts.lost_labels);
  const said = [
    t('datasets.originImport', { source: text(given.source), format: text(given.importer) }),
    t('datasets.matching', { count: count(counts.files) }),
    count(counts.objects) > 0 && t('datasets.originObjects', { count: count(counts.objects) }),
    lost > 0 && t('datasets.originLost', { count: lost }),
    count(counts.skipped) > 0 && t('datasets.originSkipped', { count: count(counts.skipped) }),
  ];
  return (
    <Text span display="block" size="sm" c="dimmed">
      {said.filter(Boolean).join(' · ')}
      {text(maker.run) && (
        <>
          {' · '}
          <AnchorLink to="/runs/$runId" params={{ runId: text(maker.run) }} fz="inherit" underline="always">
            {count(maker.number) > 0
              ? t('datasets.originRunNumber', { number: maker.number })
              : t('datasets.originRun')}
          </AnchorLink>
        </>
      )}
    </Text>
  );
}

function Made({ given, maker }: { given: Json; maker: Json }) {
  const { t } = useTranslation();
  const counts = object(given.counts);
  const inputs = Array.isArray(given.inputs) ? given.inputs.map(text).filter(Boolean) : [];
  return (
    <Text span display="block" size="sm" c="dimmed">
      <AnchorLink to="/runs/$runId" params={{ runId: text(maker.run) }} fz="inherit" underline="always">
        {count(maker.number) > 0 ? t('datasets.originRunNumber', { number: maker.number }) : t('datasets.originRun')}
      </AnchorLink>
      {inputs.length > 0 && <> · {t('datasets.originInputs', { names: inputs.join(', ') })}</>}
      <Means maker={maker} />
      {count(counts.broken) > 0 && <> · {t('datasets.originBroken', { count: count(counts.broken) })}</>}
    </Text>
  );
}

/** The code and the environment of the run, each with its whole digest to copy. */
function Means({ maker }: { maker: Json }) {
  const { t } = useTranslation();
  const [code, workflow, environment] = [object(maker.code), object(maker.workflow), object(maker.environment)];
  const commit = text(code.commit);
  return (
    <>
      {commit && (
        <Digest
          whole={commit}
          words={t(code.dirty === true ? 'datasets.originCommitChanged' : 'datasets.originCommit', {
            commit: shortId(commit),
          })}
        />
      )}
      {text(code.digest) && (
        <Digest whole={text(code.digest)} words={t('datasets.originCode', { digest: shortId(text(code.digest)) })} />
      )}
      {text(workflow.name) && (
        <> · {t('datasets.originWorkflow', { name: workflow.name, version: shortId(text(workflow.version)) })}</>
      )}
      {text(environment.digest) && (
        <Digest
          whole={text(environment.digest)}
          words={t('datasets.originEnvironment', {
            python: text(environment.python),
            digest: shortId(text(environment.digest)),
          })}
        />
      )}
    </>
  );
}

function Digest({ whole, words }: { whole: string; words: string }) {
  return (
    <>
      {' · '}
      {words}
      <CopyIcon value={whole} />
    </>
  );
}
