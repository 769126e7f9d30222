import { IconGitBranch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '@/shared/ui/links';
import { useRefs } from '../queries';
import { RefTables } from './RefTables';

/** The branches and tags of a dataset beside its versions. */
export function RefsPanel({ name, branch }: { name: string; branch: string }) {
  const { t } = useTranslation();
  const { branches, tags, isPending, error, refetch } = useRefs(name);
  const state = { error, refetch };
  return (
    <RefTables
      name={name}
      at={branch}
      title={t('versioning.refs')}
      branches={{ ...state, rows: isPending ? undefined : branches }}
      tags={{ ...state, rows: isPending ? undefined : tags }}
      mayMerge={branches.length > 1}
    >
      <ButtonLink
        to="/datasets/$name/refs"
        params={{ name }}
        variant="subtle"
        leftSection={<IconGitBranch size={15} />}
      >
        {t('versioning.allRefs')}
      </ButtonLink>
    </RefTables>
  );
}
