import { Alert, Badge, Code, Group, Spoiler, Text } from '@mantine/core';
import { IconAlertTriangle, IconBulb } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { CopyIcon } from '@/shared/CopyId';
import { useWords } from '@/shared/runWords';
import classes from './detail.module.css';

function evidenceText(evidence: Run['evidence']): string {
  const found = evidence?.traceback || evidence?.tail;
  return typeof found === 'string' ? found : '';
}

/** What went wrong in a plain sentence, what to do about it, and the program's own last words. */
export function FailurePanel({ run }: { run: Run }) {
  const { t } = useTranslation();
  const words = useWords();
  const evidence = evidenceText(run.evidence);
  const suggestion = words.suggestion(run);
  return (
    <Alert
      variant="light"
      color="red"
      icon={<IconAlertTriangle size={18} />}
      mb="sm"
      classNames={{ root: classes.failure, body: classes.failureBody, label: classes.failureBody }}
      title={
        <Group gap="xs" align="flex-start">
          <span className={classes.reason}>{words.failure(run) || t('jobs.failedUnknown')}</span>
          {run.failure_class && <Badge color="red">{words.failureClass(run.failure_class)}</Badge>}
        </Group>
      }
    >
      {suggestion && (
        <Group gap={6} wrap="nowrap" align="flex-start">
          <IconBulb size={16} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
          <Text size="sm">{suggestion}</Text>
        </Group>
      )}
      {evidence && (
        <Spoiler maxHeight={96} showLabel={t('jobs.showAll')} hideLabel={t('jobs.showLess')} mt={6}>
          <Group gap={4} align="flex-start" wrap="nowrap">
            <Code block className={classes.trace} flex={1} tabIndex={0} aria-label={t('jobs.evidence')}>
              {evidence}
            </Code>
            <CopyIcon value={evidence} what={t('jobs.evidence')} />
          </Group>
        </Spoiler>
      )}
    </Alert>
  );
}
