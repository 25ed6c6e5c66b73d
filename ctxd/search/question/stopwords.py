"""Words of a question that say nothing of its subject. Pure data."""

from __future__ import annotations

STOP = frozenset(
    """
    a about all also am an and any anything are as at be been being between but by can cannot could did do does doing
    done each either else etc every everything few for from further get gets give given go goes going had has have
    having he her here him his how i if in into is it its itself just let like made make makes many may me might more
    most much must my need no nor not now of off on once one only or other our out over own please same shall she
    should show so some such than that the their them then there these they this those through to too under until up us
    use used uses using very via was we were what when where whether which while who whom whose why will with within
    without would you your code codebase find explain tell implementation implemented implement implements handled
    handle handles happen happens work works mean means way thing things describe located defined repo
    again already although always another anymore became become becomes came come comes else everyone fine gave give
    happened however indeed instead maybe moment nearly never nobody nothing often ones others perhaps please quite
    rather really said say says seem seems several since somebody someone something sometimes somewhere somehow soon
    still sure tell tells though thus together told took toward towards turns unless want wanted wants whatever
    whenever wherever wish yet
    """.split()  # noqa: SIM905
)

# Words that ask for uses rather than name what is used.
USAGE = frozenset({"call", "calls", "called", "caller", "callers", "usage", "usages", "references", "sites"})
