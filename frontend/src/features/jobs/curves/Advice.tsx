import { Alert, List, Text } from '@mantine/core';
import { IconBulb } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Finding } from '@/api/contract/jobs';
import { AnchorLink } from '@/shared/ui/links';
import { useAdvice } from '../queries';

/** Was the run bound by its data, why, and what to press; the server decides from what was measured. */
export function Advice({ runId }: { runId: string }) {
  const { t } = useTranslation();
  const { data } = useAdvice(runId);
  const [verdict, ...reasons] = data ?? [];
  if (!verdict) return null; // The curves below say the same in numbers.
  return (
    <Alert
      variant="light"
      color={verdict.code === 'bound' ? 'orange' : 'atom'}
      icon={<IconBulb size={18} />}
      title={t('runpage.advice.title')}
      mb="sm"
    >
      <Text size="sm">
        {t(`runpage.advice.${verdict.code}`, { ...verdict.params })} <Action finding={verdict} runId={runId} />
      </Text>
      <List size="sm" spacing={2} mt={4}>
        {reasons.map((finding) => (
          <List.Item key={finding.code}>
            {t(`runpage.advice.${finding.code}`, { ...finding.params })} <Action finding={finding} runId={runId} />
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function Action({ finding, runId }: { finding: Finding; runId: string }) {
  const { t } = useTranslation();
  if (!finding.action) return null;
  const text = t(`runpage.adviceAction.${finding.code as Actionable}`, { ...finding.params });
  if (finding.code !== 'too_few_cpus')
    return (
      <Text span inherit c="dimmed">
        {text}
      </Text>
    );
  return (
    <AnchorLink to="/runs/new" search={{ clone: runId }} fz="inherit" underline="always">
      {text}
    </AnchorLink>
  );
}

type Actionable = Exclude<Finding['code'], 'bound' | 'not_bound'>;
