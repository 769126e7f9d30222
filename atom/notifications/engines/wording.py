"""Texts of notifications in mails, in the reader's language; the portal has its own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LANGUAGES: Final = ("en", "zh")

# Kind → what happened, in one line, by language.
TITLES: Final[dict[str, tuple[str, str]]] = {
    "run.failed": ("Run {name} failed: {failure}", "运行 {name} 失败：{failure}"),
    "run.succeeded": ("Run {name} succeeded", "运行 {name} 成功"),
    "run.waiting": (
        "Run {name} has waited for {minutes} minutes",
        "运行 {name} 已排队 {minutes} 分钟",
    ),
    "run.mentioned": (
        "{author} mentioned you in a comment on run {name}",
        "{author} 在运行 {name} 的评论中提到了您",
    ),
    "label_task.started": (
        "The labeling task {name} hands out work",
        "标注任务 {name} 已开始分发",
    ),
    "label_task.returned": (
        "{count} of your items in {name} came back to be corrected",
        "{name} 中有 {count} 个条目退回给您修改",
    ),
    "label_task.submitted": (
        "{count} items of {name} are ready for audit",
        "{name} 中有 {count} 个条目等待审核",
    ),
    "label_task.published": (
        "The labels of {name} were published as {version}",
        "{name} 的标注已发布为 {version}",
    ),
    "label_task.unpublished": (
        "The labels of {name} could not be published",
        "{name} 的标注未能发布",
    ),
    "commit.published": ("{dataset} has a new version", "{dataset} 有了新版本"),
    "commit.failed": ("A change to {dataset} failed", "对 {dataset} 的更改失败"),
    "commit.conflict": ("A change to {dataset} met a conflict", "对 {dataset} 的更改遇到冲突"),
    "scan.done": ("The scan of {source} is done", "对 {source} 的扫描已完成"),
    "scan.failed": ("The scan of {source} failed", "对 {source} 的扫描失败"),
    "source.drifted": (
        "Files in source {source} changed since a version was made",
        "来源 {source} 的内容与版本记录不一致",
    ),
    "invitation.accepted": (
        "{username} accepted your invitation to {place}",
        "{username} 接受了您对 {place} 的邀请",
    ),
    "role.granted": ("You are {role} in {place} now", "您现在是 {place} 的{role}"),
    "role.changed": (
        "Your role in {place} changed to {role}",
        "您在 {place} 中的角色已变为{role}",
    ),
    "role.removed": ("You have no role in {place} any more", "您在 {place} 中不再有角色"),
    "webhook.disabled": (
        "The webhook {name} was switched off: its receiver failed",
        "Webhook {name} 已停用：接收方一直失败",
    ),
    "account.signed_in": (
        "A new sign-in to your account: {device} from {address}",
        "您的账户有新的登录：{device}，来自 {address}",
    ),
    "account.password_changed": ("Your password was changed", "您的密码已更改"),
    "account.second_factor_changed": (
        "Your second factor was changed: {change}",
        "您的第二因素已更改：{change}",
    ),
}
_VALUES: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "failure": {
        "OOM_HOST": ("out of memory", "内存不足"),
        "USER_CODE": ("its code failed", "代码出错"),
        "COMMAND_NOT_FOUND": ("command not found", "找不到命令"),
        "DATA_WARMUP": ("its data could not be brought", "数据不可用"),
        "RUNTIME_BUILD": ("its environment could not be built", "环境构建失败"),
        "PREPARATION": ("it could not be prepared", "准备失败"),
        "RUNNER_LOST": ("its supervisor is gone", "监管进程丢失"),
        "NODE_LOST": ("its machine is gone", "机器失联"),
        "NODE_DISK": ("the disk of its machine takes no writes", "机器磁盘无法写入"),
        "DEADLINE": ("it took too long", "超出时限"),
        "BAD_PARAMETERS": ("its parameters are wrong", "参数有误"),
        "BAD_DATA": ("its data does not fit", "数据不符合要求"),
        "BAD_MODEL": ("its model does not fit", "模型不符合要求"),
        "OOM_GPU": ("out of GPU memory", "显存不足"),
        "RESULT_REFUSED": ("its result was refused", "结果被拒绝"),
        "IMAGE_PULL": ("its image could not be pulled", "镜像无法拉取"),
        "VOLUME": ("a volume could not be mounted", "卷无法挂载"),
        "UNSCHEDULABLE": ("no machine was found", "没有可用的机器"),
        "PREEMPTED": ("stopped for other work", "为其他任务让位"),
        "EVICTED": ("moved off its machine", "被移出机器"),
        "JOB_VANISHED": ("gone from its cluster", "已从集群消失"),
        "GANG_INCOMPLETE": ("without all of its nodes in time", "未能及时得到全部节点"),
        "MOVED": ("moved to another cluster", "已移动到另一个集群"),
        "": ("without a known reason", "原因未知"),
    },
    "role": {
        "viewer": ("viewer", "访客"),
        "labeler": ("labeler", "标注员"),
        "researcher": ("researcher", "研究员"),
        "admin": ("administrator", "管理员"),
    },
    "change": {
        "enabled": ("set up", "已启用"),
        "disabled": ("turned off", "已关闭"),
        "removed": ("removed by an administrator", "被管理员移除"),
        "codes_renewed": ("new recovery codes", "已生成新的恢复码"),
        "code_used": ("a recovery code was used", "使用了一个恢复码"),
    },
}
TOPIC_NAMES: Final[dict[str, tuple[str, str]]] = {
    "run_failed": ("failed runs", "失败的运行"),
    "run_finished": ("finished runs", "完成的运行"),
    "run_waiting": ("runs that wait for long", "长时间排队的运行"),
    "mention": ("mentions", "提及"),
    "labeling": ("labeling", "标注"),
    "audit": ("audits", "审核"),
    "data_failed": ("data that needs you", "需要处理的数据"),
    "data_finished": ("finished work on data", "完成的数据操作"),
    "membership": ("invitations and roles", "邀请与角色"),
    "webhook": ("webhooks", "Webhook"),
    "security": ("safety of your account", "账户安全"),
}
SUBJECT_OF_MANY: Final = ("{count} notifications from Atom", "Atom 的 {count} 条通知")
OPEN: Final = ("Open", "打开")
IN_PROJECT: Final = ("Project: {project}", "项目：{project}")
NOT_YOU: Final = (
    "If this was not you, change your password and end all other sessions in your account.",
    "如果不是您本人操作，请立即更改密码并在账户页面结束其他会话。",
)
SETTINGS: Final = ("Choose what you are mailed:", "设置邮件通知：")
STOP: Final = ("No more mails about {topic}:", "不再接收“{topic}”邮件：")


# By whether the browser and its system are known.
_DEVICES: Final[dict[tuple[bool, bool], tuple[str, str]]] = {
    (True, True): ("{browser} on {system}", "{system} 上的 {browser}"),
    (True, False): ("{browser}", "{browser}"),
    (False, True): ("{system}", "{system}"),
    (False, False): ("an unknown program", "未知程序"),
}


class _EventValues(dict[str, Any]):
    """The values of an event; a missing value is shown as a dash."""

    def __missing__(self, key: str) -> str:
        return "–"


def say(words: tuple[str, str], language: str, **said: Any) -> str:
    """Return words in a language; English where it is another than we speak."""
    return words[LANGUAGES.index(language) if language in LANGUAGES else 0].format_map(
        _EventValues(said)
    )


def title_of(kind: str, data: Mapping[str, Any], count: int, language: str) -> str:
    """Return in one line what happened."""
    said = {**data, "failure": data.get("failure_class", ""), "count": count}
    known = bool(data.get("browser")), bool(data.get("system"))
    said["device"] = say(_DEVICES[known], language, **data)
    for name, words in _VALUES.items():
        if (value := said.get(name)) in words:
            said[name] = say(words[value], language)
    return " ".join(say(TITLES[kind], language, **said).split())
