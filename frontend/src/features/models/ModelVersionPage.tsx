import { Button, Card, Menu, SimpleGrid, Skeleton, Stack, Tabs, Text, Title } from '@mantine/core';
import { IconChevronDown, IconDownload } from '@tabler/icons-react';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { ModelVersion } from '@/api/contract/models';
import { asApiError } from '@/api/errors';
import { useMay } from '@/shared/domain/project';
import { CommandLine } from '@/shared/ui/CommandLine';
import { CopyId } from '@/shared/ui/CopyId';
import { IN_PALETTE } from '@/shared/ui/commands';
import { FailedPage } from '@/shared/ui/FailedPage';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { PrintReport, ReportOrigin } from '@/shared/ui/print/PrintReport';
import { usePrinting } from '@/shared/ui/print/printing';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Bytes } from '@/shared/ui/values';
import { AliasEditor } from './AliasEditor';
import { EvaluateLink } from './EvaluateLink';
import { EvaluationTab } from './EvaluationTab';
import { LineageTab } from './LineageTab';
import { useDownload, useModelVersion } from './queries';
import { type modelVersionSearch, TABS } from './search';
import { ToModels } from './ToModels';

type Tab = (typeof TABS)[number];

export function ModelVersionPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { name = '', n } = useParams({ strict: false });
  const number = Number(n);
  const search = useSearch({ strict: false }) as ReturnType<typeof modelVersionSearch>;
  const mayRun = useMay('researcher');
  const { data, error, refetch } = useModelVersion(name, number);
  const tab: Tab = search.tab ?? 'summary';
  const printing = usePrinting();
  const toModel = (
    <AnchorLink to="/models/$name" params={{ name }} size="xs">
      {name}
    </AnchorLink>
  );
  if (error && !data)
    return (
      <FailedPage
        title={t('models.versionOf', { name, number: n })}
        above={asApiError(error).code === 'model_not_found' ? <ToModels /> : toModel}
        error={error}
        onRetry={() => void refetch()}
      />
    );
  if (!data)
    return (
      <Page>
        <Stack aria-busy>
          <Skeleton height={28} width={280} />
          <Skeleton height={240} />
        </Stack>
      </Page>
    );
  const open = (next: string | null) =>
    void navigate({ to: '.', search: (old) => ({ ...old, tab: (next ?? 'summary') as Tab }), replace: true });
  const printed = (
    <Stack>
      <Summary name={name} version={data} />
      <EvaluationTab version={data} />
      <LineageTab name={name} number={number} />
    </Stack>
  );
  return (
    <Page>
      <ReportOrigin />
      <PageHeader
        title={t('models.versionOf', { name, number: data.number })}
        above={toModel}
        badges={<AliasEditor model={name} number={data.number} aliases={data.aliases} />}
        subtitle={<RelativeTime at={data.created_at} />}
      >
        {mayRun && <EvaluateLink version={data} variant="default" />}
        <PrintReport />
        <DownloadButton name={name} number={number} />
      </PageHeader>
      {printing && printed}
      <Tabs value={tab} onChange={open} keepMounted={false} display={printing ? 'none' : undefined}>
        <Tabs.List mb="md">
          {TABS.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {t(`models.tab.${one}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="summary">
          <Summary name={name} version={data} />
        </Tabs.Panel>
        <Tabs.Panel value="evaluations">
          <EvaluationTab version={data} />
        </Tabs.Panel>
        <Tabs.Panel value="lineage">
          <LineageTab name={name} number={number} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function DownloadButton({ name, number }: { name: string; number: number }) {
  const { t } = useTranslation();
  const { data } = useDownload(name, number);
  const files = data?.files ?? [];
  const only = files.length === 1 ? files[0]?.url : data?.url;
  if (only)
    return (
      <Button component="a" href={only} download leftSection={<IconDownload size={14} />}>
        {t('common.download')}
      </Button>
    );
  return (
    <Menu position="bottom-end" {...IN_PALETTE}>
      <Menu.Target>
        <Button
          disabled={files.length === 0}
          leftSection={<IconDownload size={14} />}
          rightSection={<IconChevronDown size={14} />}
        >
          {t('common.download')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {files.map((file) => (
          <Menu.Item
            key={file.path}
            component="a"
            href={file.url}
            download
            rightSection={<Bytes value={file.size_bytes} />}
          >
            {file.path}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Summary({ name, version }: { name: string; version: ModelVersion }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { run } = version;
  const metrics = Object.entries(version.metrics).filter(([key]) => !key.startsWith('system/'));
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card>
        <Title order={2} fz="sm" mb="xs">
          {t('common.details')}
        </Title>
        <KeyValueList
          items={[
            [t('models.description'), version.description || null],
            [
              t('models.run'),
              <AnchorLink key="run" to="/runs/$runId" params={{ runId: run.id }} fz="inherit">
                {run.name || `#${run.number}`}
              </AnchorLink>,
            ],
            [t('models.framework'), version.framework || null],
            [t('models.size'), <Bytes key="size" value={version.size_bytes} />],
            ['SHA-256', <CopyId key="sha" value={version.sha256} chars={16} />],
            [t('models.digest'), <CopyId key="digest" value={version.digest} chars={16} />],
            [t('models.createdBy'), version.created_by?.full_name || version.created_by?.username],
          ]}
        />
        <Text size="xs" c="dimmed" fw={600} mt="md" mb={4}>
          {t('models.fromTerminal')}
        </Text>
        <CommandLine command={`atom model download ${name} ${version.number} ./${name}`} />
      </Card>
      <Card>
        <Title order={2} fz="sm" mb="xs">
          {t('models.metrics')}
        </Title>
        {metrics.length === 0 && <Text c="dimmed">{t('common.none')}</Text>}
        <KeyValueList items={metrics.map(([key, value]) => [key, format.metric(value)])} />
      </Card>
    </SimpleGrid>
  );
}
