"""What a named rule, switch or condition adds to the sentence of a skip."""

from __future__ import annotations

from ledger.domain.statement import RuleNamed, Statement, SwitchNamed


def rule_words(statement: Statement) -> str:
    """Return what the named rule or switch adds to the sentence, else nothing."""
    switch, rule = statement.switch, statement.rule
    if switch is not None:
        set_words = _set_words(switch)
        return f": the switch {switch.name}{' was set' if set_words else ''}{set_words}"
    if rule is None:
        return ""
    said = [part for part in (rule_name(rule).removeprefix("the "), _rule_text(rule)) if part]
    return f": {', '.join(said)}" if said else ""


def condition_tail(statement: Statement) -> str:
    """Go on after a clause that names the rule or the switch already."""
    if statement.reason == "condition_false":
        return rule_words(statement)
    if statement.switch is not None:
        set_words = _set_words(statement.switch)
        return f", set{set_words}" if set_words else ""
    text = _rule_text(statement.rule) if statement.rule is not None else ""
    return f": {text}" if text else ""


def _set_words(switch: SwitchNamed) -> str:
    by = f" by {switch.actor}" if switch.actor else ""
    at = f" on {switch.set_at:%Y-%m-%d at %H:%M:%S} UTC" if switch.set_at is not None else ""
    return f"{at}{by}"


def rule_name(rule: RuleNamed) -> str:
    name = rule.name or rule.symbol or rule.path
    version = f", version {rule.version}" if rule.version else ""
    if name:
        return f"the rule {name}{version}"
    return f"decision {rule.decision}" if rule.decision else ""


def _rule_text(rule: RuleNamed) -> str:
    return f"“{rule.text}”" if rule.text and len(rule.text) <= 200 else ""


def only_condition(statement: Statement) -> str:
    return ", only a condition" if statement.condition else ""
