import { Alert, Skeleton } from '@mantine/core';
import { IconBan, IconLock } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMay, useProject } from '@/shared/domain/project';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { FailedPage } from '@/shared/ui/FailedPage';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { VersionPicker } from '../browse/VersionPicker';
import { DatasetPartHeader } from '../DatasetPartHeader';
import { useFixed, useVersion } from '../queries';
import { ChoicesForm } from './ChoicesForm';
import { Done } from './Done';
import { Failure } from './Failure';
import { useReport, useStep } from './queries';
import { ReportView } from './ReportView';
import { StepProgress } from './StepProgress';

const route = getRouteApi('/datasets/$name/import');

/** Imports annotations and archives that are files of a version: choices, a look, and the import itself. */
export function ImportPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const { ref = 'main', look, run } = route.useSearch();
  const navigate = route.useNavigate();
  const project = useProject();
  const may = useMay('researcher');
  const version = useVersion(name, ref);
  const shown = useFixed({ project, dataset: name, ref });
  const toDataset = (
    <AnchorLink to="/datasets/$name" params={{ name }} search={{ ref }} size="sm">
      {name}
    </AnchorLink>
  );
  if (version.error && !version.data)
    return (
      <FailedPage
        title={t('importing.title')}
        above={toDataset}
        error={version.error}
        onRetry={() => void version.refetch()}
      />
    );
  const step = run ?? look;
  const body = () => {
    if (!may && !step) return <EmptyState icon={IconLock} title={t('importing.mayNot')} />;
    if (step) return <Step key={step} id={step} isLook={run === undefined} />;
    if (!shown) return <Skeleton height={280} radius="md" aria-busy />;
    return <ChoicesForm key={shown.ref} source={shown} named={ref} />;
  };
  return (
    <Page>
      <DatasetPartHeader
        name={name}
        tab="files"
        title={t('importing.title')}
        documentTitle={t('importing.documentTitle', { name, ref })}
        subtitle={t('importing.subtitle')}
        above={toDataset}
        badges={
          <VersionPicker
            name={name}
            value={ref}
            onChange={(next) => void navigate({ search: () => ({ ref: next }) })}
          />
        }
      />
      {body()}
    </Page>
  );
}

/** One of the two runs: how far it is, why it failed, or what it found. */
function Step({ id, isLook }: { id: string; isLook: boolean }) {
  const { t } = useTranslation();
  const run = useStep(id);
  const hasEnded = run.data?.state === 'succeeded';
  const report = useReport(id, hasEnded);
  if (run.error && !run.data) return <ErrorState error={run.error} onRetry={() => void run.refetch()} />;
  if (!run.data) return <Skeleton height={180} radius="md" aria-busy />;
  if (run.data.state === 'cancelled')
    return (
      <Failure>
        <Alert color="gray" icon={<IconBan size={18} />}>
          {t('importing.cancelled')}
        </Alert>
      </Failure>
    );
  if (run.data.state === 'failed') return <Failure run={run.data} />;
  if (!hasEnded) return <StepProgress run={run.data} isLook={isLook} />;
  if (report.error)
    return (
      <Failure>
        <ErrorState error={report.error} onRetry={() => void report.refetch()} />
      </Failure>
    );
  if (!report.data) return <Skeleton height={280} radius="md" aria-busy />;
  if (report.data.version) return <Done report={report.data} version={report.data.version} />;
  return <ReportView found={report.data} run={id} parameters={run.data.parameters} />;
}
