import { Badge, Group, Loader, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { sentenceOf } from '@/api/errors';
import type { ClusterFinding } from '@/api/schema';
import { sayDetail } from '@/i18n';
import { CommandLine } from '@/shared/ui/CommandLine';

const COLORS: Record<ClusterFinding['level'], string> = { ok: 'teal', warn: 'yellow', fail: 'red' };

/** Whether a pod is being tried: its finding says how far it is. */
export const isTryingPod = (findings: ClusterFinding[] | null): boolean =>
  findings?.some(({ code, evidence }) => code === 'pod_reaches_atom' && evidence.under_way === true) ?? false;

const ORDER: ClusterFinding['level'][] = ['fail', 'warn', 'ok'];

/** The checks of a cluster, what is in the way first; missing rights come with the YAML that grants them. */
export function Findings({ findings }: { findings: ClusterFinding[] }) {
  const sorted = findings.toSorted((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
  return (
    <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
      {sorted.map((finding) => (
        // One check may find several things.
        <FindingLine key={`${finding.code} ${finding.detail}`} finding={finding} />
      ))}
    </Stack>
  );
}

function FindingLine({ finding }: { finding: ClusterFinding }) {
  const { t } = useTranslation();
  const { level, detail, evidence } = finding;
  return (
    <li>
      <Group gap="xs" wrap="nowrap" align="baseline">
        {evidence.under_way === true ? (
          <Badge color="blue" size="sm" flex="none" leftSection={<Loader size={10} color="blue" />}>
            {t('clusters.underWay')}
          </Badge>
        ) : (
          <Badge color={COLORS[level]} size="sm" flex="none">
            {t(`clusters.level.${level}`)}
          </Badge>
        )}
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {sayDetail(detail, sentenceOf(finding))}
        </Text>
      </Group>
      {typeof evidence.yaml === 'string' && (
        <Stack gap={4} mt={6}>
          <Text size="xs" c="dimmed">
            {t('clusters.grant')}
          </Text>
          <CommandLine command={evidence.yaml} what="YAML" />
        </Stack>
      )}
    </li>
  );
}
