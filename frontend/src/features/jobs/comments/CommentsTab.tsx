import { ActionIcon, Button, Card, Group, Skeleton, Stack, Text, Tooltip } from '@mantine/core';
import { IconMessage, IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunComment } from '@/api/contract/jobs';
import { useMe } from '@/shared/domain/me';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { LoadMore } from '@/shared/ui/LoadMore';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { confirmUndo } from '@/shared/ui/undo';
import { CommentField } from './CommentField';
import { pieces } from './mention';
import { useCommenting, useComments } from './queries';

/** Comments of people about a run; they are plain text, and one's own can be changed. */
export function CommentsTab({ run }: { run: Run }) {
  const { t } = useTranslation();
  const me = useMe();
  const thread = useComments(run.id);
  const commenting = useCommenting(run.id);
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const [editing, setEditing] = useState<string | null>(null);
  const keep = (id: string) => setLeaving((old) => new Set([...old].filter((one) => one !== id)));
  const remove = ({ id }: RunComment) => {
    setLeaving((old) => new Set([...old, id]));
    confirmUndo({
      message: t('runpage.comments.removed'),
      commit: () => commenting.remove(id),
      rollback: () => keep(id),
    });
  };
  const shown = thread.rows?.filter(({ id }) => !leaving.has(id));
  return (
    <Stack gap="sm" maw={760}>
      {thread.error != null && !thread.rows && <ErrorState error={thread.error} onRetry={thread.refetch} />}
      {thread.error == null && !shown && <Skeleton height={120} aria-busy />}
      {shown?.length === 0 && <EmptyState compact icon={IconMessage} title={t('runpage.comments.none')} />}
      {shown?.map((comment) =>
        editing === comment.id ? (
          <Card key={comment.id} padding="sm">
            <CommentField
              initial={comment.text}
              label={t('runpage.comments.say')}
              submit={t('runpage.comments.save')}
              onSend={async (text) => {
                await commenting.edit(comment.id, text);
                setEditing(null);
              }}
            >
              <Button variant="default" onClick={() => setEditing(null)}>
                {t('common.cancel')}
              </Button>
            </CommentField>
          </Card>
        ) : (
          <Comment
            key={comment.id}
            comment={comment}
            mine={me !== undefined && comment.author?.username === me.username}
            onEdit={() => setEditing(comment.id)}
            onRemove={() => remove(comment)}
          />
        ),
      )}
      {thread.hasMore && <LoadMore loading={thread.isLoadingMore} onLoad={thread.loadMore} error={thread.error} />}
      <CommentField
        draft={`atom-comment/${run.id}`}
        label={t('runpage.comments.say')}
        submit={t('runpage.comments.send')}
        onSend={commenting.add}
      />
    </Stack>
  );
}

interface CommentProps {
  comment: RunComment;
  mine: boolean;
  onEdit: () => void;
  onRemove: () => void;
}

function Comment({ comment, mine, onEdit, onRemove }: CommentProps) {
  const { t } = useTranslation();
  const name = comment.author?.full_name || comment.author?.username || t('runpage.comments.gone');
  return (
    <Card component="article" padding="sm" aria-label={t('runpage.comments.by', { name })}>
      <Group justify="space-between" mb={4}>
        <Group gap="xs">
          <Text fw={600} size="sm">
            {name}
          </Text>
          <Text size="xs" c="dimmed" component="span">
            <RelativeTime at={comment.created_at} />
          </Text>
          {comment.edited_at && (
            <Text size="xs" c="dimmed">
              {t('runpage.comments.edited')}
            </Text>
          )}
        </Group>
        {mine && (
          <Group gap={4}>
            <ActionIcon color="gray" aria-label={t('runpage.comments.edit')} onClick={onEdit}>
              <IconPencil size={15} />
            </ActionIcon>
            <ActionIcon color="gray" aria-label={t('runpage.comments.remove')} onClick={onRemove}>
              <IconTrash size={15} />
            </ActionIcon>
          </Group>
        )}
      </Group>
      <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {pieces(comment.text, comment.mentioned).map(({ text, who }, index) =>
          who ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces are where they are
            <Tooltip key={index} label={who}>
              <Text component="span" inherit fw={600} c="var(--mantine-primary-color-light-color)">
                {text}
              </Text>
            </Tooltip>
          ) : (
            text
          ),
        )}
      </Text>
    </Card>
  );
}
