import { useTranslation } from 'react-i18next';
import type { AuditEvent } from '@/api/contract/accounts';
import { CopyId } from '@/shared/ui/CopyId';
import { AnchorLink } from '@/shared/ui/links';

/** Each has its words in both languages: a test compares. */
export const KINDS = [
  'apitoken',
  'branch',
  'cleaningreport',
  'codefetch',
  'commitrequest',
  'dataset',
  'experiment',
  'garbagerun',
  'githost',
  'invitation',
  'labeltask',
  'legalhold',
  'model',
  'modelversion',
  'ontology',
  'pack',
  'project',
  'projectsecret',
  'replica',
  'rolebinding',
  'run',
  'runpolicy',
  's3keypair',
  'savedview',
  'serviceaccount',
  'source',
  'sourcescan',
  'store',
  'tag',
  'unit',
  'user',
  'version',
  'warmplan',
  'warmschedule',
  'webhook',
  'writejob',
  'writer',
] as const;
type Kind = (typeof KINDS)[number];
const isKind = (text: string): text is Kind => KINDS.some((kind) => kind === text);
const ROLES = ['viewer', 'labeler', 'researcher', 'admin'] as const;
const isRole = (said: unknown): said is (typeof ROLES)[number] => ROLES.some((role) => role === said);
const word = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** The object of an event, by name where it has one; a link where the portal has a page of it. */
export function ObjectLink({ event }: { event: AuditEvent }) {
  const { t } = useTranslation();
  const kind = isKind(event.object_type) ? t(`settings.kind.${event.object_type}`) : event.object_type;
  return (
    <>
      {kind} <Target event={event} />
    </>
  );
}

function Target({ event }: { event: AuditEvent }) {
  const { object_type, object_id: id, data, project } = event;
  const name = word(data.name);
  const search = { project: project ?? undefined };
  const look = { fz: 'inherit', underline: 'always' } as const;
  if (object_type === 'run' && project)
    return (
      <AnchorLink to="/runs/$runId" params={{ runId: id }} search={search} {...look}>
        {name || <CopylessId id={id} />}
      </AnchorLink>
    );
  if (object_type === 'labeltask' && project)
    return (
      <AnchorLink to="/labeling/$taskId" params={{ taskId: id }} search={search} {...look}>
        {name || <CopylessId id={id} />}
      </AnchorLink>
    );
  const dataset = object_type === 'dataset' ? name : word(data.dataset);
  if (dataset && project) {
    const ref = word(data.ref) || (object_type === 'branch' || object_type === 'tag' ? name : word(data.branch));
    return (
      <AnchorLink
        to="/datasets/$name"
        params={{ name: dataset }}
        search={{ ...search, ref: ref || undefined }}
        {...look}
      >
        {ref ? `${dataset}@${ref}` : dataset}
      </AnchorLink>
    );
  }
  const model = object_type === 'model' ? name : word(data.model);
  const number = object_type === 'modelversion' ? word(data.number) : '';
  if (model && number && project)
    return (
      <AnchorLink to="/models/$name/versions/$n" params={{ name: model, n: number }} search={search} {...look}>
        {`${model} v${number}`}
      </AnchorLink>
    );
  if (model && project)
    return (
      <AnchorLink to="/models/$name" params={{ name: model }} search={search} {...look}>
        {model}
      </AnchorLink>
    );
  if (object_type === 'project' && project)
    return (
      <AnchorLink to="/" search={search} {...look}>
        {project}
      </AnchorLink>
    );
  return (
    <>
      {name || <PersonAndRole data={data} />} {id && <CopyId value={id} />}
    </>
  );
}

/** Whom a role or an invitation is for, and as what: nothing else tells one from another. */
function PersonAndRole({ data }: { data: AuditEvent['data'] }) {
  const { t } = useTranslation();
  const who = word(data.user) || word(data.email);
  const role = isRole(data.role) ? t(`people.roles.${data.role}`) : '';
  return who && role ? t('settings.personAndRole', { who, role }) : who || role;
}

const SHOWN = 8;
/** An id as the text of a link, which holds no button. */
const CopylessId = ({ id }: { id: string }) => <code>{id.slice(-SHOWN)}</code>;
