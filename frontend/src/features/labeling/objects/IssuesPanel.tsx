import { Badge, Button, Divider, Group, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Issue, LeasedSlot } from '@/api/contract/labeling';
import { notifyError } from '@/shared/ui/undo';
import { ERROR_CODES, type ErrorCode } from '../audit/audit';
import { objectsOf } from '../canvas/model';
import type { Editing } from './editing';
import { commentOnIssue, resolveIssue } from './queries';

const isKnown = (code: string | null): code is ErrorCode => ERROR_CODES.some((one) => one === code);

const nameOf = ({ full_name, username }: Issue['author']) => full_name || username;

type Remarked = Pick<LeasedSlot, 'issues'> & Partial<Pick<LeasedSlot, 'returned_code' | 'returned_comment'>>;

/** Why the picture was sent back: the reason and the auditor's remarks, which the labeler answers and resolves. */
export function IssuesPanel({ slot, editing }: { slot: Remarked; editing: Editing }) {
  const { t } = useTranslation();
  const [issues, setIssues] = useState<readonly Issue[]>(slot.issues ?? []);
  const code = slot.returned_code ?? null;
  const reasons = [isKnown(code) ? t(`labeling.audit.code.${code}`) : '', slot.returned_comment ?? ''].filter(Boolean);
  const put = (changed: Issue) => setIssues((all) => all.map((one) => (one.id === changed.id ? changed : one)));
  return (
    <section aria-label={t('labeling.objects.issues')} data-issues tabIndex={-1}>
      {reasons.length > 0 && (
        <Text size="sm" fw={500}>
          {t('labeling.objects.returnedBecause', { why: reasons.join(' – ') })}
        </Text>
      )}
      <Stack gap="xs" mt={4}>
        {issues.map((issue, index) => (
          <IssueCard key={issue.id} issue={issue} number={index + 1} editing={editing} onChange={put} />
        ))}
      </Stack>
      <Divider my="sm" />
    </section>
  );
}

interface IssueCardProps {
  issue: Issue;
  number: number;
  editing: Editing;
  onChange: (issue: Issue) => void;
}

function IssueCard({ issue, number, editing, onChange }: IssueCardProps) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const object = objectsOf(editing.document).find(({ id }) => id === issue.object);
  const isResolved = issue.state === 'resolved';
  const answer = () =>
    void commentOnIssue(issue.id, text.trim()).then((comment) => {
      if (comment) onChange({ ...issue, comments: [...issue.comments, comment] });
      setText('');
    }, notifyError);
  const resolve = () => void resolveIssue(issue.id).then((changed) => changed && onChange(changed), notifyError);
  return (
    <Stack gap={4}>
      <Group gap={6} wrap="nowrap" align="flex-start">
        <Badge size="sm" color={isResolved ? 'gray' : 'orange'}>
          {isResolved ? t('labeling.objects.resolved') : number}
        </Badge>
        {object ? (
          <UnstyledButton
            fz="sm"
            td="underline"
            style={{ overflowWrap: 'anywhere' }}
            onClick={() => editing.do({ type: 'select', ids: [object.id] })}
          >
            {issue.text}
          </UnstyledButton>
        ) : (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {issue.text}
          </Text>
        )}
      </Group>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {t('labeling.objects.remarkBy', { name: nameOf(issue.author) })}
      </Text>
      {issue.comments.map((comment) => (
        <Text key={comment.id} size="xs" pl="md" style={{ overflowWrap: 'anywhere' }}>
          {`${nameOf(comment.author)}: ${comment.text}`}
        </Text>
      ))}
      {!isResolved && (
        <Group gap={4} wrap="nowrap">
          <TextInput
            flex={1}
            size="xs"
            aria-label={t('labeling.objects.replyTo', { number })}
            placeholder={t('labeling.objects.reply')}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button size="xs" variant="default" disabled={text.trim() === ''} onClick={answer}>
            {t('labeling.objects.reply')}
          </Button>
          <Button size="xs" variant="light" onClick={resolve}>
            {t('labeling.objects.resolve')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
